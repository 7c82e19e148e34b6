/* The table that keeps an e-node from being stored twice: from (operator, canonical arguments) to
 * node. It holds hashes and ids only; what a node is, the graph knows. Linear probing with
 * deletion by moving back, so there are no tombstones. */
#ifndef OPS_EGRAPH_HASHCONS_H
#define OPS_EGRAPH_HASHCONS_H

#include <stddef.h>
#include <stdint.h>

struct hashcons {
    struct hashcons_slot {
        uint32_t hash, node; /* node UINT32_MAX: empty */
    } * slots;
    size_t n, size; /* size is a power of two */
};

static inline uint32_t hashcons_hash(uint32_t op, const uint32_t *kids, uint32_t arity)
{
    uint64_t h = op * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < arity; i++)
        h = (h ^ (h >> 29) ^ kids[i]) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)((h ^ (h >> 32)));
}

void hashcons_free(struct hashcons *t);
void hashcons_insert(struct hashcons *t, uint32_t hash, uint32_t node);
/* The node must be there. */
void hashcons_remove(struct hashcons *t, uint32_t hash, uint32_t node);

#endif
