/* Devices by name. The CUDA back end is a shared library that is loaded when a card is first
 * requested: without the library or a driver, the program runs on the CPU. */
#include "gpu/cuda_plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef EQLOOM_CUDA_DIR
#define EQLOOM_CUDA_DIR "" /* installation directory */
#endif
static const char file_name[] = "eqloom-cuda.so";

/* Initialised once. */
static struct {
    pthread_once_t once;
    const struct cuda_plugin *plugin; /* NULL: see failure */
    int n;                            /* number of cards; 0: see failure */
    struct err failure;
} cuda = {.once = PTHREAD_ONCE_INIT};

/* Tries $EQLOOM_CUDA; else beside the program, where a build puts it; else the installation
 * directory. */
static void find_library(char *path, size_t size)
{
    const char *named = getenv("EQLOOM_CUDA");
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash)
        slash[1] = 0;
    snprintf(path, size, "%s", named ? named : "");
    const char *folders[] = {program, EQLOOM_CUDA_DIR};
    for (size_t i = 0; i < 2 && !named; i++) {
        snprintf(path, size, "%s%s%s", folders[i], i ? "/" : "", file_name);
        if (access(path, R_OK) == 0)
            return;
    }
}

static void load(void)
{
    char path[4200];
    find_library(path, sizeof path);
    struct err *e = &cuda.failure;
    if (access(path, R_OK) != 0) {
        err_fail(e, ERR_UNSUPPORTED, "no card: the CUDA back end (%s) is not installed", file_name);
        return;
    }
    /* The back end loads 240 MB of libraries: skip it if the driver is not installed. */
    if (!getenv("EQLOOM_CUDA") && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
        err_fail(e, ERR_UNSUPPORTED, "no card: there is no driver (libcuda.so.1)");
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct cuda_plugin *p = library ? dlsym(library, CUDA_PLUGIN_SYMBOL) : NULL;
    if (!p)
        err_fail(e, ERR_UNSUPPORTED, "no card: %s", dlerror());
    else if (p->layout != CUDA_PLUGIN_LAYOUT)
        err_fail(e, ERR_UNSUPPORTED, "no card: %s was built for another version of the program",
                 path);
    else if (!p->count(&cuda.n, e))
        cuda.plugin = p;
}

enum err_code gpu_count_cards(int *n, struct err *e)
{
    pthread_once(&cuda.once, load);
    *n = cuda.n;
    return cuda.plugin ? OK : err_fail(e, ERR_UNSUPPORTED, "%s", cuda.failure.message);
}

const char *gpu_why_cpu(void)
{
    pthread_once(&cuda.once, load);
    return cuda.plugin ? NULL : cuda.failure.message;
}

/* Sets *index to the card's number, -1 for the CPU, -2 for auto. */
static enum err_code read_name(int *index, const char *name, struct err *e)
{
    char *end = "";
    *index = strcmp(name, "cpu") == 0 ? -1 : strcmp(name, "auto") == 0 ? -2 : 0;
    if (strncmp(name, "cuda:", 5) == 0 && name[5] >= '0' && name[5] <= '9')
        *index = (int)strtol(name + 5, &end, 10);
    else if (*index == 0 && strcmp(name, "cuda") != 0)
        end = "?";
    return *end || *index > 1023
               ? err_fail(e, ERR_INPUT, "device: '%.40s' is not auto, cpu, cuda or cuda:N", name)
               : OK;
}

enum err_code gpu_find(bool *cpu, struct gpu_card *card, const char *name, struct err *e)
{
    int index, n;
    enum err_code code = read_name(&index, name, e);
    if (code)
        return err_up(e, code);
    *cpu = index == -1 || (index == -2 && gpu_why_cpu());
    if (*cpu)
        return OK;
    if ((code = gpu_count_cards(&n, e)))
        return err_up(e, code);
    return err_up(e, cuda.plugin->card(card, index < 0 ? 0 : index, e));
}

enum err_code gpu_find_all(int index[GPU_CARDS], size_t *n, const char *name, struct err *e)
{
    bool cpu;
    struct gpu_card first, c;
    enum err_code code = gpu_find(&cpu, &first, name, e);
    if (code)
        return err_up(e, code);
    *n = 1;
    index[0] = cpu ? -1 : first.index;
    for (int i = 1; i < cuda.n && *n < GPU_CARDS && !cpu && !strchr(name, ':'); i++)
        if (!cuda.plugin->card(&c, i, NULL) && strcmp(c.class_name, first.class_name) == 0)
            index[(*n)++] = i;
    return OK;
}

enum err_code gpu_open(struct gpu_device **out, const char *name, struct pool *pool, struct err *e)
{
    bool cpu;
    struct gpu_card card;
    enum err_code code = gpu_find(&cpu, &card, name, e);
    if (!code)
        code = cpu ? gpu_open_cpu(out, pool, NULL, e) : cuda.plugin->open(out, card.index, e);
    return err_up(e, code);
}
