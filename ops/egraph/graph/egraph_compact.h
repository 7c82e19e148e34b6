/* Compaction: the places of dead nodes are given to others. Nodes keep their order, ids do not. */
#ifndef OPS_EGRAPH_GRAPH_EGRAPH_COMPACT_H
#define OPS_EGRAPH_GRAPH_EGRAPH_COMPACT_H

#include "ops/egraph/graph/egraph_core.h"

/* Where nodes went. */
struct compaction {
    uint32_t *to; /* by old cell, and at the end: how many before it were kept */
    size_t n;
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
    return c->to[n];
}

#endif
