/* Whether an expression is shown to have no value anywhere: that no value was computed shows
 * nothing. */
#pragma once

#include "ops/expr/ball/ball.h"

/* Whether some part of x divides by what is proved to be zero, or takes its logarithm, a power of
 * it that is not positive, or another function at a singularity; or applies an operator outside its
 * domain. *why is then such as "ln(x - x), where x - x is 0", in the arena. Symbols without a
 * domain are positive. Returns false in languages without division. */
bool expr_is_undefined(const char **why, struct arena *a, const struct expr *x,
                       const struct ball_domain *domains, size_t n_domains);
