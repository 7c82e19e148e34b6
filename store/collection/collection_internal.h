/* Nodes of a collection's tree, for reading and for comparing, and the lists of one being built. */
#pragma once

#include "store/collection/collection.h"

enum { COLLECTION_MAX_DEPTH = 12 }; /* 16^12 blocks at least */

struct collection_node {
    unsigned depth; /* 0: ids are elements */
    size_t n;
    const struct digest *ids;
    uint64_t *starts; /* n + 1: position of the first element under each, from the node's own */
    uint64_t count;   /* elements under the node */
};

enum err_code collection_read_root(struct collection_node *node, enum record_kind *element,
                                   struct store *s, const struct digest *id, struct arena *a,
                                   struct err *e);
/* A block that its parent says is of this depth and has this many elements. */
enum err_code collection_read_block(struct collection_node *node, struct store *s,
                                    const struct digest *id, unsigned depth, uint64_t count,
                                    struct arena *a, struct err *e);

/* A list of the tree while it is being made: what has not been put into a block yet. */
struct level {
    struct digest *ids;
    uint64_t *counts; /* elements under each */
    size_t n, cap_ids, cap_counts;
    size_t in_block; /* of the n, how many the cutter has looked at */
    bool cutting;    /* more than ROOT_MAX have come */
};

struct collection_builder {
    struct store_batch *batch;
    enum record_kind element;
    uint64_t count;
    struct level levels[COLLECTION_MAX_DEPTH + 1];
    unsigned n_levels;
};

/* To list d: 0 of elements, d + 1 of the blocks of depth d. */
enum err_code collection_list_add(struct collection_builder *c, unsigned d, const struct digest *id,
                                  uint64_t count, struct err *e);
