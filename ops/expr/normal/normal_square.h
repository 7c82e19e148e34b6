/* Squares. */
#ifndef OPS_EXPR_NORMAL_NORMAL_SQUARE_H
#define OPS_EXPR_NORMAL_NORMAL_SQUARE_H

#include "ops/expr/normal/normal_field.h"

/* With each generator that has a root, or stands linearly under one, by that root: x + 2 sqrt(x) +
 * 1 is (sqrt(x) + 1)^2. */
const element *square_by_roots(struct field *f, const element *x);
/* x = c v^2, c a positive constant, v none. */
bool square_of(const element **c, const element **v, struct field *f, const element *x);

#endif
