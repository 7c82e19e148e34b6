/* Logarithms and arguments as generators, related to those that are known. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* |x|^2 */
const element *normal_square(struct field *f, const element *x);
/* The generator of this kind, known or new. */
const element *normal_logarithm(struct field *f, enum generator_kind kind, const element *x);
/* The principal argument of an element that is real at isolated points only. */
const element *normal_arg(struct field *f, const element *x, const element *conjugate);
/* Whether an element that is not real is so at isolated points only. */
bool normal_leaves_axis(struct field *f, const element *x, const element *conjugate);
