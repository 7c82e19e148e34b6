/* An expression with its logarithms taken apart or put together, or with functions in terms of
 * others. What is written holds for positive variables in most cases, not in all: it is to be
 * verified. */
#pragma once

#include "ops/expr/expr.h"

/* ln(a*b) is ln(a) + ln(b), ln(a^n) is n*ln(a). */
bool form_expand_logarithms(struct expr *out, struct arena *a, const struct expr *x);
/* Sums of multiples of logarithms become one: 2*ln(x) + ln(3) is ln(x^2*3). */
bool form_combine_logarithms(struct expr *out, struct arena *a, const struct expr *x);
/* Trigonometric or hyperbolic functions in terms of the k-th other; false: k is none. A term
 * without any comes out the same. */
bool form_rewrite(struct expr *out, struct arena *a, const struct expr *x, unsigned k);
