/* Terms as elements: functions by exponentials and logarithms, derivatives by the chain rule. */
#ifndef OPS_EXPR_NORMAL_NORMAL_TRANSLATE_H
#define OPS_EXPR_NORMAL_NORMAL_TRANSLATE_H

#include "ops/expr/normal/normal_field.h"

/* A term whose nodes begin here; NULL: gives up. */
const element *normal_translate(struct field *f, const struct expr_node *x);

#endif
