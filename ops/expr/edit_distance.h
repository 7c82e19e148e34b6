/* How far apart two expressions are as trees: the minimal number of nodes that are inserted,
 * deleted or renamed, one at a time, on the way from one to the other (Zhang and Shasha 1989). A
 * deleted node's arguments take its place, in order; a node's name is its operator, number or
 * symbol. */
#pragma once

#include "ops/expr/expr.h"

enum { EDIT_MAX_PAIRS = 1 << 24 }; /* nodes of one times nodes of the other */

/* The arena is given back as it was. ERR_LIMIT beyond EDIT_MAX_PAIRS. */
enum err_code edit_distance(uint32_t *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e);
