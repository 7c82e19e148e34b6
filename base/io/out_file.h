/* A file that is written beside its target and replaces it when complete: readers see the old
 * content or the new, and a failure leaves nothing behind. A target that is not a regular file (a
 * device, a pipe) is written directly; for a symbolic link, the file that it points to is
 * replaced. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdio.h>

struct out_file {
    FILE *f;      /* NULL: none */
    char *path;   /* of the file itself */
    char *beside; /* temporary file; NULL: written in place */
};

enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e);
/* If code is OK, the file replaces its target, else it is removed. Returns code, or the error of
 * closing. Does nothing for a zeroed struct. */
enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e);
/* Writes a whole file. */
enum err_code out_file_write(const char *path, const void *data, size_t n, struct err *e);
