/* Complex conjugates of elements. */
#ifndef OPS_EXPR_NORMAL_NORMAL_CONJUGATE_H
#define OPS_EXPR_NORMAL_NORMAL_CONJUGATE_H

#include "ops/expr/normal/normal_field.h"

/* NULL: not known. */
const element *normal_conjugate(struct field *f, const element *x);
bool normal_is_real(struct field *f, const element *x);

#endif
