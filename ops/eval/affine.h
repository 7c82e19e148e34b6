/* What is left of an expression when constants that are added to it or multiplied with it do not
 * matter: f of a*f + b (SemEmb). */
#ifndef OPS_EVAL_AFFINE_H
#define OPS_EVAL_AFFINE_H

#include "ops/expr/expr.h"

/* Along sums and differences at the root constant terms are dropped, along products and quotients
 * constant factors, in turn, until there are none; 3/f is 1/f, and c - f is f. A constant is what
 * has no variable; an expression that is one gives 0. How the rest is written is left as it is: 2*x
 * + 2*sin(x) stays. Lives in the arena. */
struct expr affine_core(struct arena *a, const struct expr *x);

#endif
