/* Prefetch: what a number of matches, or of nodes to be hashed again, will look up is looked up side
 * by side before the first of them is applied, so that their memory is fetched at once. In a graph
 * larger than the caches, applying a match is mostly waiting for memory. This changes nothing but
 * what the caches hold; what was found for a match holds until two classes are merged. */
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
