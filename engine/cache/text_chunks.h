/* Source text in chunks, so that a changed file costs what changed of it. An op whose files may be
 * parted (`cut` in engine/op.h) is given them chunk by chunk, some 16 KiB each, cut where the text
 * says so: an edit moves no cut but those next to it. What each chunk gave is remembered, as a
 * count of elements beside the digest of its text, under an action of its own ("@chunks"); the
 * chunks of the last version that come again are slices of the collection that it gave. */
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

/* All of the files, which were read, in order; an empty file is a chunk, too. False: the op wants
 * them as a whole. */
bool text_chunks_cut(struct text_chunks *out, struct arena *a, struct op_ctx *ctx,
                     const struct source_files *files);

/* What a version of the files gave. */
struct chunk_cache;
/* `files` are the ids of that version's. NULL: nothing is known of it. */
struct chunk_cache *chunk_cache_new(struct store *s, const struct node *node, const char *numerics,
                                    const struct digest *files, size_t n_files);
void chunk_cache_free(struct chunk_cache *x); /* NULL is fine */
/* Where elements of a text with this digest stand; false: nowhere. */
bool chunk_cache_find(struct slice *out, const struct chunk_cache *x, const struct digest *id);

enum err_code chunk_cache_write(struct store_batch *b, struct arena *a, const struct node *node,
                                const char *numerics, const struct source_files *files,
                                const struct text_chunks *chunks, const struct digest *collection,
                                struct err *e);

#endif
