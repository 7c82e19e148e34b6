/* The cheapest term that rules make of an expression: what `simplify` finds. */
#pragma once

#include "ops/egraph/graph/egraph.h"

/* What it is measured by. */
uint64_t expr_cost(const struct expr *x);
/* Lives in the arena. `limits` are those of the saturation. */
enum err_code cheapest_term(struct expr *out, struct arena *a, const struct expr *x,
                            const struct ruleset *set, const struct saturate_options *limits,
                            struct err *e);
