/* Complex conjugates of elements, and their derivatives by the chain rule on generators. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* By the variable that is generator `by`; NULL: gives up. */
const element *normal_derive(struct field *f, const element *x, size_t by);
/* NULL: not known. */
const element *normal_conjugate(struct field *f, const element *x);
bool normal_is_real(struct field *f, const element *x);
