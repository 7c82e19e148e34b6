/* Content-defined chunks of source text: a changed file costs as much as what changed in it. An op
 * whose files may be cut (`cut` in engine/op.h) gets them in chunks of some 16 KiB, cut where the
 * content says so: an edit moves only the cuts next to it. An action of its own ("@chunks") records
 * for each chunk the digest of its text and how many elements it gave. Chunks of the last version
 * that occur again are slices of the collection that it gave. */
#ifndef ENGINE_TEXT_CHUNKS_H
#define ENGINE_TEXT_CHUNKS_H

#include "engine/cache/source_files.h"
#include "engine/ctx/ctx.h"

struct text_chunk {
    size_t file, from, len;
    struct digest id; /* of the text */
    uint64_t n;       /* elements that it gave */
};

struct text_chunks {
    struct text_chunk *items;
    size_t n;
};

/* Chunks of all files, which were read, in order; an empty file is a chunk, too. False: the op needs
 * whole files. */
bool text_chunks_cut(struct text_chunks *out, struct arena *a, struct op_ctx *ctx,
                     const struct source_files *files);

/* What an earlier version of the files gave. */
struct chunk_cache;
/* `files` are the ids of that version's. NULL: nothing is stored. */
struct chunk_cache *chunk_cache_new(struct store *s, const struct node *node, const char *numerics,
                                    const struct digest *files, size_t n_files);
void chunk_cache_free(struct chunk_cache *x); /* NULL is fine */
/* The elements that a text with this digest gave; false: it did not occur. */
bool chunk_cache_find(struct slice *out, const struct chunk_cache *x, const struct digest *id);

enum err_code chunk_cache_write(struct store_batch *b, struct arena *a, const struct node *node,
                                const char *numerics, const struct source_files *files,
                                const struct text_chunks *chunks, const struct digest *collection,
                                struct err *e);

#endif
