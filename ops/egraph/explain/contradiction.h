/* When rules prove what cannot be: the two derivations that collide. */
#ifndef OPS_EGRAPH_EXPLAIN_CONTRADICTION_H
#define OPS_EGRAPH_EXPLAIN_CONTRADICTION_H

#include "ops/egraph/graph/egraph_core.h"

/* Of a graph that has met a contradiction: ERR_FAILED names both terms, what is known of them, and
 * the rule at which it showed, unless that is NULL. If the graph keeps proofs, the detail says how
 * two terms of one class that cannot be equal were derived from a third, with the rule of each
 * step, unless that is too long; and the graph is congruent again. */
enum err_code contradiction_fail(struct arena *a, struct egraph *g, const struct ruleset *rules,
                                 const struct rule *rule, struct err *e);

#endif
