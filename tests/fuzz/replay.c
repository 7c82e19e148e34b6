/* Feeds every file of the directories (or files) named as arguments to a fuzz target, in name
 * order: what a fuzzer once found stays found. With clang and -Dfuzz=true the targets are linked
 * with libFuzzer instead and this file is not used. */
#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    struct arena a = {0};
    struct err e = {0};
    struct span bytes;
    size_t inputs = 0, n;
    for (int i = 1; i < argc && !e.message[0]; i++) {
        char **paths;
        if (os_list_tree(&paths, &n, &a, argv[i], &e))
            break;
        for (size_t k = 0; k < n && !os_read_file(&bytes, &a, paths[k], SIZE_MAX / 4, &e); k++) {
            /* Exactly the bytes, so that a sanitizer sees a read past the end. */
            uint8_t *data = must_calloc(bytes.len + !bytes.len, 1);
            memcpy(data, bytes.data, bytes.len);
            LLVMFuzzerTestOneInput(data, bytes.len);
            free(data);
            inputs++;
        }
    }
    arena_free(&a);
    printf("%zu inputs %s\n", inputs, e.message);
    return inputs == 0 || e.message[0];
}
