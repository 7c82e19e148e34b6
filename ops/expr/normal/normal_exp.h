/* Exponentials, logarithms and absolute values of elements. Functions return NULL where they give
 * up. */
#pragma once

#include "ops/expr/normal/normal_field.h"

const element *normal_exp(struct field *f, const element *x);
const element *normal_ln(struct field *f, const element *x); /* principal */
const element *normal_abs(struct field *f, const element *x);
