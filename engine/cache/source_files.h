/* Source files: digests of their contents, computed without reading unchanged files. */
#pragma once

#include "engine/job/job.h"
#include "store/store.h"

enum { SOURCE_FILE_MAX = 1 << 30 };

struct source_files {
    struct op_file *files; /* text.text is NULL where the file was not read */
    size_t n;
};

/* Returns the content ids of a node's files, in order. Reads a file only if its size, change time
 * or inode differs from the stored ones. Adds new entries to the batch (which may be NULL). Fails
 * with ERR_INPUT if a file is missing. */
enum err_code source_scan(struct source_files *out, struct arena *a, const struct node *node,
                          struct store *s, struct store_batch *b, struct err *e);
/* Returns a file's bytes; reads them into the arena unless they have been read. Fails with
 * ERR_FAILED if they no longer match the id. */
enum err_code source_text(struct span *out, const struct op_file *f, struct arena *a,
                          struct err *e);
/* Reads the files that have not been read yet. */
enum err_code source_load(struct source_files *files, struct arena *a, struct err *e);
