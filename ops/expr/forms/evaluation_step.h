/* Evaluation from the leaves to the root, one subterm at a time, as a computer algebra system
 * evaluates input; there is no search. */
#pragma once

#include "ops/expr/expr.h"

#include <stdbool.h>

/* Evaluates the last subterm, in prefix order, that can be evaluated: a derivative, by the chain
 * rule; a function of its inverse (sin asin x, e^ln x) or of 0 or 1; sums, products, quotients and
 * powers that have a shorter form as polynomials. Returns false if there is none. *why names the
 * kind of step. The result is in the arena. */
bool evaluation_step(struct expr *out, const char **why, struct arena *a, const struct expr *x);
