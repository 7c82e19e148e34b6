/* A file that is written beside its target and replaces it when complete: readers see the old one
 * or the new one, and a failure leaves nothing behind. What is there and is no plain file (a
 * device, a pipe) is written to as it is; a link stays, and what it leads to is replaced. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdio.h>

struct out_file {
    FILE *f;      /* NULL: none */
    char *path;   /* of the file itself */
    char *beside; /* NULL: it is written in place */
};

enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e);
/* With code == OK the file replaces its target, else it is removed. Returns code, or the error of
 * closing. Does nothing with a struct of zeros. */
enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e);
/* All of it at once. */
enum err_code out_file_write(const char *path, const void *data, size_t n, struct err *e);
