/* A file that is written beside its target and replaces it when complete: readers see the old
 * content or the new, and a failure leaves nothing behind. The temporary name cannot be guessed and
 * must not exist, and no link is followed at the file's own place. A killed process leaves its
 * temporary file: when one of that name is written again, those that nobody has written to for a
 * day are removed. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct out_file {
    FILE *f;                   /* NULL: none */
    char *path;                /* of the file itself */
    int folder;                /* its folder, a descriptor */
    const char *name, *beside; /* in the folder; beside NULL: written in place */
};

/* Opens a file that the user named. A pipe or a device is written in place, also behind a link of
 * the system's (/dev/stdout); a pipe that nobody reads and any other link are refused. */
enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e);
/* For a folder that others may write to as well: replaces whatever stands there under that name.
 * `folder` is a descriptor, of which a copy is kept; `path` is for messages. Dead temporary files
 * of all names with this ending are removed. */
enum err_code out_file_replace(struct out_file *out, struct arena *a, int folder, const char *name,
                               const char *path, const char *ending, struct err *e);
/* Returns whether the target is a file of the same content. */
bool out_file_is_same(struct out_file *x);
/* If code is OK, the file replaces its target, else it is removed. Returns code, or the error of
 * closing. Does nothing for a zeroed struct. */
enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e);
/* Writes a whole file that the user named. */
enum err_code out_file_write(const char *path, const void *data, size_t n, struct err *e);
