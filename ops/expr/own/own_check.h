/* Checks the derivatives and values that a file of operators states. */
#pragma once

#include "ops/expr/own/own.h"

/* Returns NULL, or a point with both values if the derivative with respect to argument k is
 * provably false there. */
const char *own_derivative_refuted(struct arena *a, const struct own_operator *own, unsigned arity,
                                   unsigned k);
/* Returns NULL, or a point with the value there if it is provably outside the domain values[k]. */
const char *own_values_refuted(struct arena *a, const struct language *lang, uint16_t op,
                               unsigned k);
