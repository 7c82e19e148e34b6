/* Prefetch, for graphs of more than 32,768 cells (egraph.near). What the next matches look up is
 * looked up for all of them side by side, before the first is applied, so that cache misses
 * overlap. This changes only what the caches hold. A node found for a match stays valid until two
 * classes are joined.
 *
 * When the mechanisms of this folder act:
 * prefetch    graphs of more than 32,768 cells, at nodes with several matches;
 * size_order  node budgets of 262,144 or more, in iterations that begin with at most 1/8 of the
 *             budget used, until the first ban. */
#pragma once

#include "ops/egraph/match/ematch.h"

enum { PREFETCH_MATCHES = 48, PREFETCH_VALUES = 24 };

/* Prefetched nodes of some matches. */
struct prefetched {
    uint32_t unions; /* unions of the graph at that time */
    /* By match: classes of the variables, then nodes of the right-hand side. */
    uint32_t values[PREFETCH_MATCHES][PREFETCH_VALUES];
    const uint32_t *nodes[PREFETCH_MATCHES]; /* the latter; NULL: not prefetched, it has too many */
};

/* Prefetches for the next PREFETCH_MATCHES matches, from match `from` on. */
void prefetch_matches(struct prefetched *out, struct egraph *g, const struct ematch *m,
                      size_t from);

/* Node k of a right-hand side, or NO_NODE: it has to be looked up. */
static inline uint32_t prefetched_node(const struct prefetched *f, const uint32_t *nodes,
                                       uint32_t k, const struct egraph *g)
{
    return nodes && f->unions == g->n_unions ? nodes[k] : NO_NODE;
}
