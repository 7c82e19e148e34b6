/* What normal forms know of Arb functions that operators name. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* Expresses the function, applied to the arguments, by other elements, among them applications that
 * are generators already; NULL if it has to be a generator of its own. */
const element *normal_function(struct field *f, const struct ball_function *function,
                               const element *const *arguments);
/* Whether x is a polynomial with integer coefficients in integer variables. */
bool normal_is_integer(struct field *f, const element *x);
