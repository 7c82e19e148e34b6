/* Whether a derivative that a file of operators gives can be true. */
#pragma once

#include "ops/expr/own/own.h"

/* NULL, or a point and both values: the derivative by argument k is false there, by a proof. */
const char *own_derivative_refuted(struct arena *a, const struct own_operator *own, unsigned arity,
                                   unsigned k);
