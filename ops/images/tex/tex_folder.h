/* A folder for the files of other programs, flat, that goes with what is in it. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

struct tex_folder {
    char path[256];
};

/* A fresh one under $TMPDIR (NULL), or number n in another. */
enum err_code tex_folder_new(struct tex_folder *f, const struct tex_folder *in, unsigned n,
                             struct err *e);
/* Removes it, its files, and folders in it with theirs. */
void tex_folder_free(struct tex_folder *f);
enum err_code tex_folder_write(const struct tex_folder *f, const char *name, struct span data,
                               struct err *e);
enum err_code tex_folder_read(struct span *out, struct arena *a, const struct tex_folder *f,
                              const char *name, struct err *e);
bool tex_folder_has(const struct tex_folder *f, const char *name);
