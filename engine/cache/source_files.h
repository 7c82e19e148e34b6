/* Source files: which content they hold, without reading those that did not change. */
#ifndef ENGINE_SOURCE_FILES_H
#define ENGINE_SOURCE_FILES_H

#include "engine/job/job.h"
#include "store/store.h"

enum { SOURCE_FILE_MAX = 256 << 20 };

struct source_files {
    struct op_file *files; /* text.text is NULL where the file was not read */
    size_t n;
    uint64_t read; /* how many were read */
};

/* Ids of the content of a node's files, in order. Files are read only if their size, time of
 * change or inode differ from what the store remembers. What is learned goes into the batch
 * (which may be NULL). ERR_INPUT for a file that is not there. */
enum err_code source_scan(struct source_files *out, struct arena *a, const struct node *node,
                          struct store *s, struct store_batch *b, struct err *e);
/* Reads those that were not. */
enum err_code source_load(struct source_files *files, struct arena *a, struct err *e);

#endif
