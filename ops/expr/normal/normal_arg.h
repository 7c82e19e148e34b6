/* Logarithms and arguments as generators, related to existing ones. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* |x|^2 */
const element *normal_square(struct field *f, const element *x);
/* Finds or adds the generator of this kind. */
const element *normal_logarithm(struct field *f, enum generator_kind kind, const element *x);
/* The principal argument of an element that is real only at isolated points. */
const element *normal_arg(struct field *f, const element *x, const element *conjugate);
/* Whether an element that is not real takes real values only at isolated points. */
bool normal_leaves_axis(struct field *f, const element *x, const element *conjugate);
