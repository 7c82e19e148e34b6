/* Work foreseen: what a number of matches, or of nodes to be mended, will look up is looked up side
 * by side, before the first of them has its turn, and forgotten; so that their memory is fetched
 * all at once, not one place after another. In a graph larger than the caches much of an
 * application is such waiting. Says nothing and changes nothing but what the caches hold. */
#ifndef OPS_EGRAPH_FORESEE_H
#define OPS_EGRAPH_FORESEE_H

#include "ops/egraph/machine.h"

enum { FORESEE_MATCHES = 48, FORESEE_REPAIRS = 48 };

/* Whether it is worth the while: the graph is larger than what is near. */
static inline bool foresee_pays(const struct egraph *g)
{
    return g->n_cells > g->near;
}

/* The next FORESEE_MATCHES matches of the machine, from this one on. */
void foresee_matches(struct egraph *g, const struct machine *m, size_t from);
/* The next FORESEE_REPAIRS nodes of `pending`, from this one on, which are to be hashed again. */
void foresee_repairs(struct egraph *g, size_t from);

/* Some nodes after the i-th of n, of which their classes will learn. */
static inline void foresee_nodes(const struct egraph *g, const uint32_t *nodes, size_t i, size_t n)
{
    enum { NODES = 16, ARGUMENTS = 8 };
    if (i + NODES < n) {
        __builtin_prefetch(&g->cells[nodes[i + NODES]]);
        __builtin_prefetch(&g->members[nodes[i + NODES]]);
    }
    if (i + ARGUMENTS < n) {
        const struct cell *c = &g->cells[nodes[i + ARGUMENTS]];
        for (int k = 0; k < 2; k++) {
            __builtin_prefetch(&g->members[c->kid[k]]);
            __builtin_prefetch(&g->classes[c->kid[k]]);
        }
    }
}

#endif
