/* Ranges of elements over all values of their variables, where each variable has a bounded
 * interval. */
#pragma once

#include "ops/expr/normal/normal_field.h"

#include <arb.h>

/* Encloses the real part. Returns false if a variable is unbounded or a value is not finite. */
bool range_enclose(arb_t out, struct field *f, const element *x);
/* 1 or -1 if a real element has that sign at every point of its domain, else 0. */
int range_sign(struct field *f, const element *x);
