/* One-to-one assignments of rows to columns. */
#ifndef OPS_EVAL_ASSIGNMENT_H
#define OPS_EVAL_ASSIGNMENT_H

#include <stdint.h>

/* gain is (n, n); column[i] is set so that the sum of gain[i][column[i]] is greatest. Exact up to
 * rounding; O(n^3). */
void assignment_best(uint32_t *column, const double *gain, uint32_t n);
/* The greatest gain first, then the greatest among what is left, ...; ties by row, then column. */
void assignment_greedy(uint32_t *column, const double *gain, uint32_t n);

#endif
