/* Complex conjugates of elements, and their derivatives by the chain rule on generators. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* The derivative with respect to the variable with generator number `by`, or NULL. */
const element *normal_derive(struct field *f, const element *x, size_t by);
/* NULL if unknown. */
const element *normal_conjugate(struct field *f, const element *x);
bool normal_is_real(struct field *f, const element *x);
