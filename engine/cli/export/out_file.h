/* A file that is written beside its target and replaces it when complete: readers see the old one
 * or the new one, and a failure leaves nothing behind. */
#ifndef ENGINE_CLI_OUT_FILE_H
#define ENGINE_CLI_OUT_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

#include <stdio.h>

struct out_file {
    FILE *f; /* NULL: none */
    const char *path;
    char *beside;
};

/* The path must outlive it. */
enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e);
/* With code == OK the file replaces its target, else it is removed. Returns code, or the error of
 * closing. Does nothing with a struct of zeros. */
enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e);

/* The bytes of a File record; its chunks are read one by one. */
enum err_code file_record_write(FILE *to, struct store *s, const struct digest *id, struct err *e);

#endif
