/* Whether derivatives and values that a file of operators gives can be true. */
#pragma once

#include "ops/expr/own/own.h"

/* NULL, or a point and both values: the derivative by argument k is false there, by a proof. */
const char *own_derivative_refuted(struct arena *a, const struct own_operator *own, unsigned arity,
                                   unsigned k);
/* NULL, or a point and the value there, which is not as values[k] of the operator says. */
const char *own_values_refuted(struct arena *a, const struct language *lang, uint16_t op,
                               unsigned k);
