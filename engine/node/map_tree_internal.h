/* What a map's input is covered with: shared by finding (map_tree_lookup.c) and feeding
 * (map_tree.c). */
#ifndef ENGINE_MAP_TREE_INTERNAL_H
#define ENGINE_MAP_TREE_INTERNAL_H

#include "engine/cache/witness_union.h"
#include "engine/node/element_reuse.h"
#include "engine/node/map_tree.h"
#include "store/collection/collection.h"

/* The input is covered by known blocks of any depth and unknown leaves. */
struct input_block {
    struct collection_block block;
    unsigned depth;
    bool known;
    struct digest action;              /* of a known one: where its outputs stand */
    const struct reuse_origin *origin; /* proved to stand; else NULL */
    const char *reason;                /* the proof's, as the op gave it */
};

/* A block above the leaves that was looked up; what lies in a known one is not listed. */
struct inner_block {
    struct collection_block block;
    unsigned depth;
    bool known;
    const struct reuse_origin *origin;
    uint64_t *from;             /* by output: where its outputs begin in the map's */
    struct witness_union notes; /* of what lies in it, as far as it came; of an unknown one */
};

struct map_tree {
    struct arena arena;
    struct input_block *spans;
    size_t n, cap;
    struct inner_block *inners; /* ascending; larger ones first */
    size_t n_inners, cap_inners;
    uint64_t cached, proved;       /* elements */
    uint64_t prove_until_ns;       /* 0: nothing (more) is proved */
    size_t feeding, feeding_inner; /* what comes next */
    size_t *open, n_open;          /* inners that the next element stands in, larger ones first */
    struct id_list *sum;           /* of the unknown leaf that comes in */
    size_t *caps;                  /* both by output */
    struct witness_union notes;    /* of that leaf */
};

/* Covers the input of the node: spans and inners. */
enum err_code map_tree_find(struct map_tree *b, struct collection *c, struct worker *w, uint32_t i,
                            struct err *e);

#endif
