/* Feeds every file of the directories (or files) named as arguments to a fuzz target, in name
 * order: what a fuzzer once found stays found. With clang and -Dfuzz=true the targets are linked
 * with libFuzzer instead and this file is not used. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return -1;
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    /* Exactly the bytes, so that a sanitizer sees a read past the end. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    int ok = data && fread(data, 1, (size_t)size, f) == (size_t)size;
    fclose(f);
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return ok ? 1 : -1;
}

int main(int argc, char **argv)
{
    long n = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            perror(argv[i]);
            return 1;
        }
        if (!S_ISDIR(st.st_mode)) {
            if (replay_file(argv[i]) < 0)
                return 1;
            n++;
            continue;
        }
        struct dirent **names;
        int count = scandir(argv[i], &names, NULL, alphasort);
        for (int j = 0; j < count; j++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], names[j]->d_name);
            if (names[j]->d_name[0] != '.') {
                if (replay_file(path) < 0)
                    return 1;
                n++;
            }
            free(names[j]);
        }
        if (count >= 0)
            free(names);
    }
    printf("%ld inputs\n", n);
    return n > 0 ? 0 : 1;
}
