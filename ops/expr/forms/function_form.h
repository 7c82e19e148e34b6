/* An expression with its logarithms expanded or combined, or with functions expressed by others.
 * Most rewritings hold for positive variables, but not all: callers must verify the result. */
#pragma once

#include "ops/expr/expr.h"

/* ln(a*b) becomes ln(a) + ln(b), ln(a^n) becomes n*ln(a). */
bool form_expand_logarithms(struct expr *out, struct arena *a, const struct expr *x);
/* Sums of multiples of logarithms become one logarithm: 2*ln(x) + ln(3) is ln(x^2*3). */
bool form_combine_logarithms(struct expr *out, struct arena *a, const struct expr *x);
/* Expresses trigonometric or hyperbolic functions by the k-th target; returns false if k is out of
 * range. A term without such functions is copied. */
bool form_rewrite(struct expr *out, struct arena *a, const struct expr *x, unsigned k);
