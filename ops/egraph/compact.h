/* Compaction: the places of dead nodes are given to others. Nodes keep their order, ids do not. */
#ifndef OPS_EGRAPH_COMPACT_H
#define OPS_EGRAPH_COMPACT_H

#include "ops/egraph/graph.h"

/* Where nodes went. */
struct compaction {
    uint64_t *kept; /* by old cell, a bit */
    uint32_t *rank; /* by 64 of them: cells kept before */
};

/* Enough nodes died since the last compaction. */
bool graph_wants_compaction(const struct egraph *g);
/* Right after a rebuild. Ids below `pinned` stay what they are. With proofs, which name dead nodes,
 * nothing moves, but all that shapes what follows is arranged as if it had: the same saturation
 * with and without proofs stays the same. */
void graph_compact(struct compaction *out, struct egraph *g, uint32_t pinned);
void compaction_free(struct compaction *c);

/* How many cells before `n` were kept: its new id, if it was, too. */
static inline uint32_t compaction_map(const struct compaction *c, uint32_t n)
{
    uint64_t before = (1ull << n % 64) - 1;
    return c->rank[n / 64] + (uint32_t)__builtin_popcountll(c->kept[n / 64] & before);
}

#endif
