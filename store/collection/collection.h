/* Collections: ordered lists of records of one kind as Merkle lists (schemas/collection.proto). The
 * same sequence has the same id, however it was built. */
#pragma once

#include "store/store.h"

struct collection_builder;
struct collection_builder *collection_builder_new(struct store_batch *b, enum record_kind element);
void collection_builder_free(struct collection_builder *c);
enum err_code collection_builder_add(struct collection_builder *c, const struct digest *id,
                                     struct err *e);
/* Puts the blocks and the Collection record into the batch. */
enum err_code collection_builder_finish(struct digest *id, struct collection_builder *c,
                                        struct err *e);

struct collection; /* a reader; not thread-safe */
enum err_code collection_open(struct collection **out, struct store *s, const struct digest *id,
                              struct err *e);
void collection_close(struct collection *c);
uint64_t collection_count(const struct collection *c);
enum record_kind collection_element_kind(const struct collection *c);
/* Reads the element ids at [from, from + n). */
enum err_code collection_ids(struct digest *ids, struct collection *c, uint64_t from, uint64_t n,
                             struct err *e);
/* The first `most` elements of a collection, or all: their ids live in the arena. */
struct collection_head {
    enum record_kind element;
    uint64_t count; /* of the whole collection */
    const struct digest *ids;
    size_t n;
};
enum err_code collection_read(struct collection_head *out, struct store *s, const struct digest *id,
                              uint64_t most, struct arena *a, struct err *e);
/* A block of the tree: a CollectionBlock over consecutive elements; a block of depth 0 (a leaf)
 * holds their ids. Collections that fit into one record have depth 0 and no blocks. */
struct collection_block {
    struct digest id;
    uint64_t first, n;
};
unsigned collection_depth(const struct collection *c); /* blocks have depths below it */
/* Finds the block of a depth that holds the element at a position, without reading the block. */
enum err_code collection_block(struct collection_block *out, struct collection *c, unsigned depth,
                               uint64_t position, struct err *e);
/* Appends the elements [from, from + n) of a stored collection of the same kind. Reuses its blocks
 * unread where the new tree has the same ones: reads O(log n) records. */
enum err_code collection_builder_add_slice(struct collection_builder *b, struct collection *c,
                                           uint64_t from, uint64_t n, struct err *e);

/* Visits the elements of `to` that are not in `from` (added), then those of `from` that are not in
 * `to`, as multisets of ids in order. Skips equal subtrees. */
typedef enum err_code collection_visit(void *arg, bool added, uint64_t position,
                                       const struct digest *id, struct err *e);
enum err_code collection_diff(struct store *s, const struct digest *from, const struct digest *to,
                              collection_visit *visit, void *arg, struct err *e);
