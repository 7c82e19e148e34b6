/* Terms as elements: functions by exponentials and logarithms, derivatives by the chain rule. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* A term whose nodes begin here; NULL: gives up. */
const element *normal_translate(struct field *f, const struct expr_node *x);
