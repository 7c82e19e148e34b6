/* Applications foreseen: what a number of matches will look up is looked up side by side, before
 * the first of them is applied, and forgotten; so that their memory is fetched all at once, not
 * one place after another. In a graph larger than the caches nearly all of an application is such
 * waiting. Says nothing and changes nothing but what the caches hold. */
#ifndef OPS_EGRAPH_FORESEE_H
#define OPS_EGRAPH_FORESEE_H

#include "ops/egraph/machine.h"

enum { FORESEE_MATCHES = 16 };

/* Whether it is worth the while: the graph is larger than what is near. */
static inline bool foresee_pays(const struct egraph *g)
{
    return g->n_cells > 1u << 15;
}

/* The next FORESEE_MATCHES matches of the machine, from this one on. */
void foresee_matches(struct egraph *g, const struct machine *m, size_t from);

#endif
