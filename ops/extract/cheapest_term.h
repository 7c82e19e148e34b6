/* The cheapest term that rules derive from an expression: the result of `simplify`. */
#pragma once

#include "ops/egraph/graph/egraph.h"

/* The cost of a term. */
uint64_t expr_cost(const struct expr *x);
/* The result lives in the arena. `limits` are those of the saturation. */
enum err_code cheapest_term(struct expr *out, struct arena *a, const struct expr *x,
                            const struct ruleset *set, const struct saturate_options *limits,
                            struct err *e);
