/* The cheapest of the terms that a saturated e-graph holds for its root: what `simplify` finds. */
#pragma once

#include "egraph.pb-c.h"
#include "ops/expr/expr.h"

/* What it is measured by, of any expression. */
uint64_t expr_cost(const struct expr *x);
/* Lives in the arena. */
enum err_code cheapest_term(struct expr *out, struct arena *a, const Eqloom__EGraph *m,
                            const struct language *lang, struct err *e);
