/* The two derivations that collide when rules contradict each other. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"

/* For a graph with a contradiction: ERR_FAILED names both terms, their facts and, unless it is
 * NULL, the rule that made them equal. If the graph keeps proofs, the detail has the derivations of
 * two terms that cannot be equal from a third, unless they are too long; and congruence is
 * restored. */
enum err_code contradiction_fail(struct arena *a, struct egraph *g, const struct ruleset *rules,
                                 const struct rule *rule, struct err *e);
