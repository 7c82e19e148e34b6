/* Complex conjugates of elements. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* NULL: not known. */
const element *normal_conjugate(struct field *f, const element *x);
bool normal_is_real(struct field *f, const element *x);
