/* Derivatives of elements by the chain rule on generators. */
#ifndef OPS_EXPR_NORMAL_NORMAL_DERIVE_H
#define OPS_EXPR_NORMAL_NORMAL_DERIVE_H

#include "ops/expr/normal/normal_field.h"

/* By the variable that is generator `by`; NULL: gives up. */
const element *normal_derive(struct field *f, const element *x, size_t by);

#endif
