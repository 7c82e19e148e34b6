/* Terms as elements: functions become exponentials and logarithms, derivatives use the chain rule.
 */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* Translates the term whose nodes begin at x; NULL if it gives up. */
const element *normal_translate(struct field *f, const struct expr_node *x);
