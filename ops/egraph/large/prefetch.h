/* Work foreseen: what a number of matches, or of nodes to be mended, will look up is looked up side
 * by side, before the first of them has its turn; so that their memory is fetched all at once, not
 * one place after another. In a graph larger than the caches much of an application is such
 * waiting. Changes nothing but what the caches hold; what is found for a match need not be looked
 * up again as long as no two classes became one. */
#ifndef OPS_EGRAPH_LARGE_PREFETCH_H
#define OPS_EGRAPH_LARGE_PREFETCH_H

#include "ops/egraph/match/ematch.h"

enum { PREFETCH_MATCHES = 48, PREFETCH_REPAIRS = 48, PREFETCH_VALUES = 24 };

/* Of matches. */
struct prefetched {
    uint32_t unions; /* of the graph, when it was */
    /* By match: classes of the variables, then nodes of what is built. */
    uint32_t values[PREFETCH_MATCHES][PREFETCH_VALUES];
    const uint32_t *built[PREFETCH_MATCHES]; /* the latter, or NULL if it is too much */
};

/* Whether it is worth the while: the graph is larger than what is near. */
static inline bool prefetch_pays(const struct egraph *g)
{
    return g->n_cells > g->near;
}

/* The next PREFETCH_MATCHES matches of the machine, from this one on. */
void prefetch_matches(struct prefetched *out, struct egraph *g, const struct ematch *m,
                      size_t from);

/* Part k of what a match builds, or NO_NODE: it is to be looked up. */
static inline uint32_t prefetched_node(const struct prefetched *f, const uint32_t *built,
                                       uint32_t k, const struct egraph *g)
{
    return built && f->unions == g->n_unions ? built[k] : NO_NODE;
}

/* The next PREFETCH_REPAIRS nodes of `pending`, from this one on, which are to be hashed again. */
void prefetch_repairs(struct egraph *g, size_t from);

/* Some nodes after the i-th of n, of which their classes will learn. */
static inline void prefetch_nodes(const struct egraph *g, const uint32_t *nodes, size_t i, size_t n)
{
    enum { NODES = 16, ARGUMENTS = 8, CLASSES = 4 };
    if (i + NODES < n) {
        __builtin_prefetch(&g->cells[nodes[i + NODES]]);
        __builtin_prefetch(&g->members[nodes[i + NODES]]);
    }
    if (i + ARGUMENTS < n) {
        const struct cell *c = &g->cells[nodes[i + ARGUMENTS]];
        __builtin_prefetch(&g->members[c->kid[0]]);
        __builtin_prefetch(&g->members[c->kid[1]]);
    }
    if (i + CLASSES < n) {
        const struct cell *c = &g->cells[nodes[i + CLASSES]];
        graph_prefetch_eclass(g, c->kid[0]);
        graph_prefetch_eclass(g, c->kid[1]);
    }
}

#endif
