/* Work foreseen: what a number of matches, or of nodes to be mended, will look up is looked up side
 * by side, before the first of them has its turn; so that their memory is fetched all at once, not
 * one place after another. In a graph larger than the caches much of an application is such
 * waiting. Changes nothing but what the caches hold; what is found for a match need not be looked
 * up again as long as no two classes became one. */
#ifndef OPS_EGRAPH_LARGE_PREFETCH_H
#define OPS_EGRAPH_LARGE_PREFETCH_H

#include "ops/egraph/match/ematch.h"

enum { PREFETCH_MATCHES = 48, PREFETCH_VALUES = 24 };

/* Of matches. */
struct prefetched {
    uint32_t unions; /* of the graph, when it was */
    /* By match: classes of the variables, then nodes of what is built. */
    uint32_t values[PREFETCH_MATCHES][PREFETCH_VALUES];
    const uint32_t *built[PREFETCH_MATCHES]; /* the latter, or NULL if it is too much */
};

/* The next PREFETCH_MATCHES matches of the machine, from this one on. */
void prefetch_matches(struct prefetched *out, struct egraph *g, const struct ematch *m,
                      size_t from);

/* Part k of what a match builds, or NO_NODE: it is to be looked up. */
static inline uint32_t prefetched_node(const struct prefetched *f, const uint32_t *built,
                                       uint32_t k, const struct egraph *g)
{
    return built && f->unions == g->n_unions ? built[k] : NO_NODE;
}

#endif
