/* Trivial rewrites. A term is reducible when it holds one of these:
 *
 *     x+0  0+x  x-0  0-(0-x)  x*1  1*x  x/1  x^1  x*0  0/x  x^0  1^x
 *     -1*(-1*x)  0-(-1*x)  a-(-1*x)  1/(1/x)  a/(1/x)  ||x||
 *     f(g(x)) of inverse functions f and g, e^ln(x), ln(e^x), sqrt(x)^2, sqrt(x^2)
 *
 * or, of Boolean terms, not(not(x)) or a connective of true or false.
 *
 * Two terms that differ by such steps only are not both irreducible, so the share of reducible
 * members bounds the share of members that differ trivially from another. */
#ifndef OPS_EVAL_REPORT_TRIVIAL_H
#define OPS_EVAL_REPORT_TRIVIAL_H

#include "ops/expr/expr.h"

bool term_is_reducible(const struct expr *x);

#endif
