/* The tree edit distance of two expressions: the minimal number of nodes that must be inserted,
 * deleted or renamed to turn one into the other (Zhang and Shasha 1989). Deleting a node puts its
 * arguments in its place, in order; a node's label is its operator, number or symbol. */
#pragma once

#include "ops/expr/expr.h"

enum { EDIT_MAX_PAIRS = 1 << 24 }; /* product of the two node counts */

/* Leaves the arena as it was. Fails with ERR_LIMIT beyond EDIT_MAX_PAIRS. */
enum err_code edit_distance(uint32_t *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e);
