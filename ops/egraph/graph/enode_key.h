/* Keys of the hash-consing table, an operator and canonical arguments, and their lookup. For the
 * files that add, repair and move nodes. */
#ifndef OPS_EGRAPH_GRAPH_ENODE_KEY_H
#define OPS_EGRAPH_GRAPH_ENODE_KEY_H

#include "ops/egraph/graph/egraph_core.h"

/* A key: an operator and canonical arguments, two in each of `pairs`. Nearly all nodes have at most
 * two, so the first pair suffices. */
struct key {
    uint32_t op, arity, n_pairs, hash;
    uint64_t pairs[128];
};

static inline uint32_t hash_pair(uint32_t op, uint64_t pair)
{
    return hashcons_end(hashcons_mix(hashcons_begin(op), pair));
}

static inline void key_hash(struct key *k)
{
    uint64_t h = hashcons_begin(k->op);
    for (uint32_t i = 0; i < k->n_pairs; i++)
        h = hashcons_mix(h, k->pairs[i]);
    k->hash = hashcons_end(h);
}

static inline uint64_t find_pair(struct egraph *g, const uint32_t *kids, uint32_t n)
{
    uint64_t second = n > 1 ? graph_find(g, kids[1]) : 0;
    return n ? second << 32 | graph_find(g, kids[0]) : 0;
}

static inline void set_key(struct key *k, struct egraph *g, uint32_t op, const uint32_t *kids)
{
    k->op = op;
    k->arity = graph_arity(g, op);
    k->n_pairs = (k->arity + 1) / 2;
    for (uint32_t i = 0; i < k->n_pairs; i++)
        k->pairs[i] = find_pair(g, kids + 2 * i, k->arity - 2 * i);
    key_hash(k);
}

/* The key of a node as it is stored. */
static inline void set_node_key(struct key *k, const struct egraph *g, uint32_t n)
{
    k->op = g->cells[n].op;
    k->arity = graph_arity(g, k->op);
    k->n_pairs = (k->arity + 1) / 2;
    for (uint32_t i = 0; i < k->n_pairs; i++)
        k->pairs[i] = graph_pair(&g->cells[n + i]);
    key_hash(k);
}

static inline uint32_t find_node(const struct egraph *g, const struct key *k)
{
    const struct hashcons *t = &g->cons;
    for (struct hashcons_probe p = hashcons_probe(t, k->hash); hashcons_next(&p, t);) {
        const struct cell *c = &g->cells[p.node];
        uint32_t same = 0;
        if (c->op != k->op)
            continue;
        while (same < k->n_pairs && graph_pair(&c[same]) == k->pairs[same])
            same++;
        if (same == k->n_pairs)
            return p.node;
    }
    return NO_NODE;
}

/* A lookup for one or two arguments. If there is no such node, the probe says where it belongs. */
static inline uint32_t find_small(struct hashcons_probe *p, const struct egraph *g, uint32_t hash,
                                  uint32_t op, uint64_t pair)
{
    const struct hashcons *t = &g->cons;
    *p = hashcons_probe(t, hash);
    while (hashcons_next(p, t))
        if (g->cells[p->node].op == op && graph_pair(&g->cells[p->node]) == pair)
            return p->node;
    return NO_NODE;
}

#endif
