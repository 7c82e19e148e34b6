/* Keys of the hash-consing table, an operator and its canonical arguments as one number, and their
 * lookup. For the files that add, repair and move nodes. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"

static inline uint32_t hash_pair(uint32_t op, uint64_t pair)
{
    return hashcons_end(hashcons_mix(hashcons_begin(op), pair));
}

static inline uint64_t find_pair(struct egraph *g, const uint32_t *kids, uint32_t n)
{
    uint64_t second = n > 1 ? graph_find(g, kids[1]) : 0;
    return n ? second << 32 | graph_find(g, kids[0]) : 0;
}

/* If there is no such node, the probe says where it belongs. */
static inline uint32_t find_node(struct hashcons_probe *p, const struct egraph *g, uint32_t hash,
                                 uint32_t op, uint64_t pair)
{
    const struct hashcons *t = &g->cons;
    *p = hashcons_probe(t, hash);
    while (hashcons_next(p, t))
        if (g->cells[p->node].op == op && graph_pair(&g->cells[p->node]) == pair)
            return p->node;
    return NO_NODE;
}
