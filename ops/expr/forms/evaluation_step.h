/* Evaluation from the leaves to the root, one subterm at a time, as a computer algebra system does
 * it on terms that nobody has evaluated: nothing is searched for. */
#pragma once

#include "ops/expr/expr.h"

#include <stdbool.h>

/* Evaluates the last subterm, in prefix order, that can be: a derivative, by the chain rule; a
 * function of its inverse (sin asin x, e^ln x) or of 0 or 1; sums, products, quotients and powers
 * that have a shorter form as polynomials. False: there is none. `why` is named after what was
 * done. Lives in the arena. */
bool evaluation_step(struct expr *out, const char **why, struct arena *a, const struct expr *x);
