/* Values of elements over all values of their variables, where each has an interval with two ends.
 */
#pragma once

#include "ops/expr/normal/normal_field.h"

#include <arb.h>

/* Encloses the real part. False: a variable is not bounded, or a value not finite. */
bool range_enclose(arb_t out, struct field *f, const element *x);
/* 1 or -1 where a real element has that sign at every point within its domain, else 0. */
int range_sign(struct field *f, const element *x);
