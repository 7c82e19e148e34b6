/* When rules prove what cannot be: the two derivations that collide. */
#ifndef OPS_EGRAPH_CONTRADICTION_H
#define OPS_EGRAPH_CONTRADICTION_H

#include "ops/egraph/graph.h"

/* Of a graph that keeps proofs and has met a contradiction: adds to *e (as its detail) how two
 * terms of one class that cannot be equal were derived from a third, with the rule of each step.
 * Leaves the graph congruent. Says nothing where a derivation would be too long. */
void contradiction_describe(struct err *e, struct arena *a, struct egraph *g,
                            const struct ruleset *rules);

#endif
