/* Loads cuDNN by dlopen: it is large, and few networks need it. */
#include "gpu/cuda/cudnn_graph.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define TEXT(x) #x
#define FILE_NAME(major) "libcudnn.so." TEXT(major)

static struct {
    pthread_once_t once;
    struct cudnn_calls calls;
    const char *why;
    char text[256];
} library = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    static const char *const names[] = {"cudnnGetVersion",
                                        "cudnnGetErrorString",
                                        "cudnnCreate",
                                        "cudnnDestroy",
                                        "cudnnSetStream",
                                        "cudnnBackendCreateDescriptor",
                                        "cudnnBackendDestroyDescriptor",
                                        "cudnnBackendSetAttribute",
                                        "cudnnBackendGetAttribute",
                                        "cudnnBackendFinalize",
                                        "cudnnBackendExecute"};
    enum { N = sizeof names / sizeof *names };
    _Static_assert(sizeof library.calls == N * sizeof(void *), "a name for each call");
    void *file = dlopen(FILE_NAME(CUDNN_MAJOR), RTLD_NOW | RTLD_LOCAL),
         **at = (void **)&library.calls;
    bool good = file != NULL;
    for (size_t i = 0; i < N && good; i++)
        good = (at[i] = dlsym(file, names[i])) != NULL;
    if (!good) {
        snprintf(library.text, sizeof library.text, "%s", dlerror());
        library.why = library.text;
    }
}

const struct cudnn_calls *cudnn_load(const char **why)
{
    pthread_once(&library.once, load);
    *why = library.why;
    return library.why ? NULL : &library.calls;
}
