/* Source files: the digests of their contents, without reading files that did not change. */
#pragma once

#include "engine/job/job.h"
#include "store/store.h"

enum { SOURCE_FILE_MAX = 1 << 30 };

struct source_files {
    struct op_file *files; /* text.text is NULL where the file was not read */
    size_t n;
};

/* Ids of the content of a node's files, in order. A file is read only if its size, time of
 * change or inode differs from what the store has. New facts go into the batch (which may be
 * NULL). ERR_INPUT for a missing file. */
enum err_code source_scan(struct source_files *out, struct arena *a, const struct node *node,
                          struct store *s, struct store_batch *b, struct err *e);
/* A file's bytes: those that it has, else they are read into the arena. ERR_FAILED if they are not
 * those of its id. */
enum err_code source_text(struct span *out, const struct op_file *f, struct arena *a,
                          struct err *e);
/* Reads the files that were not read yet. */
enum err_code source_load(struct source_files *files, struct arena *a, struct err *e);
