/* Nodes of a collection's tree, for reading and comparing. */
#pragma once

#include "store/collection/collection.h"

enum { COLLECTION_MAX_DEPTH = 12 }; /* 16^12 blocks at least */

struct collection_node {
    unsigned depth; /* 0: ids are elements */
    size_t n;
    const struct digest *ids;
    uint64_t *starts; /* n + 1: position of the first element under each, relative to the node */
    uint64_t count;   /* elements under the node */
};

enum err_code collection_read_root(struct collection_node *node, enum record_kind *element,
                                   struct store *s, const struct digest *id, struct arena *a,
                                   struct err *e);
/* Reads a block and checks the depth and element count that its parent states. */
enum err_code collection_read_block(struct collection_node *node, struct store *s,
                                    const struct digest *id, unsigned depth, uint64_t count,
                                    struct arena *a, struct err *e);
