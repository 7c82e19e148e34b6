/* Compaction: removes the cells of dead nodes. Live nodes keep their order and get new ids. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"

/* The new ids. */
struct compaction {
    uint32_t *to; /* by old cell, one more at the end: how many cells before it were kept */
    size_t n;
};

/* Enough nodes died since the last compaction. */
bool graph_wants_compaction(const struct egraph *g);
/* To be called right after a rebuild. Ids below `pinned` stay. With proofs, which refer to dead
 * nodes, nothing moves, but circles and entries are ordered as if it had: a saturation is the same
 * with and without proofs. */
void graph_compact(struct compaction *out, struct egraph *g, uint32_t pinned);
void compaction_free(struct compaction *c);

/* How many cells before `n` were kept: the new id of `n`, if it was kept. */
static inline uint32_t compaction_map(const struct compaction *c, uint32_t n)
{
    return c->to[n];
}
