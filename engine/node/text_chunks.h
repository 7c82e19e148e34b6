/* Source text in pieces, so that a changed file costs what changed of it. An op whose files may be
 * parted (`cut` in engine/op.h) is given them piece by piece, some 16 KiB each, cut where the text
 * says so: an edit moves no cut but those next to it. What each piece gave is remembered, as a
 * count of elements beside the digest of its text, under an action of its own ("@pieces"); the
 * pieces of the last version that come again are slices of the collection that it gave. */
#ifndef ENGINE_TEXT_CHUNKS_H
#define ENGINE_TEXT_CHUNKS_H

#include "engine/ctx/ctx.h"
#include "engine/cache/source_files.h"

struct piece {
    size_t file, from, len;
    struct digest id; /* of the text */
    uint64_t n;       /* elements that it gave */
};

struct pieces {
    struct piece *items;
    size_t n;
};

/* All of the files, which were read, in order; an empty file is a piece, too. False: the op wants
 * them as a whole. */
bool pieces_cut(struct pieces *out, struct arena *a, struct op_ctx *ctx,
                const struct source_files *files);

/* What a version of the files gave. */
struct pieces_before;
/* `files` are the ids of that version's. NULL: nothing is known of it. */
struct pieces_before *pieces_before_new(struct store *s, const struct node *node,
                                        const char *numerics, const struct digest *files,
                                        size_t n_files);
void pieces_before_free(struct pieces_before *x); /* NULL is fine */
/* Where elements of a text with this digest stand; false: nowhere. */
bool pieces_before_find(struct slice *out, const struct pieces_before *x, const struct digest *id);

enum err_code pieces_write(struct store_batch *b, struct arena *a, const struct node *node,
                           const char *numerics, const struct source_files *files,
                           const struct pieces *pieces, const struct digest *collection,
                           struct err *e);

#endif
