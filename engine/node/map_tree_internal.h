/* What a map's input is covered with: shared by finding (map_tree_lookup.c) and feeding
 * (map_tree.c). */
#ifndef ENGINE_MAP_TREE_INTERNAL_H
#define ENGINE_MAP_TREE_INTERNAL_H

#include "engine/cache/witness_union.h"
#include "engine/node/element_reuse.h"
#include "engine/node/map_tree.h"
#include "store/collection/collection.h"

/* The input is covered by found blocks of any depth, and leaves that were not found. */
struct input_block {
    struct collection_block block;
    unsigned depth;
    bool found;
    struct digest action;              /* if found: has its outputs */
    const struct reuse_origin *origin; /* if reused; else NULL */
    const char *reason;                /* of the reuse, as the op gave it */
};

/* A block above the leaves that was looked up. Blocks inside a found one are not listed. */
struct inner_block {
    struct collection_block block;
    unsigned depth;
    bool found;
    const struct reuse_origin *origin;
    uint64_t *from;                 /* by output: where its outputs begin in the map's */
    struct witness_union witnesses; /* if not found: of the elements in it so far */
};

struct map_tree {
    struct arena arena;
    struct input_block *spans;
    size_t n, cap;
    struct inner_block *inners; /* ascending; larger ones first */
    size_t n_inners, cap_inners;
    uint64_t cached, reused;        /* elements */
    uint64_t reuse_until_ns;        /* 0: no (more) blocks are reused */
    size_t feeding, feeding_inner;  /* what comes next */
    size_t *open, n_open;           /* inners that contain the next element, larger ones first */
    struct id_list *sum;            /* outputs of the leaf that is being added */
    size_t *caps;                   /* both by output */
    struct witness_union witnesses; /* of that leaf */
};

/* Covers the node's input: fills spans and inners. */
enum err_code map_tree_find(struct map_tree *b, struct collection *c, struct worker *w, uint32_t i,
                            struct err *e);

#endif
