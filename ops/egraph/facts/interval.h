/* Real intervals with outward rounding: the result of every function here contains all values that
 * the function takes on its operands. Ends may be open; infinite ends are always open. */
#pragma once

#include <math.h>
#include <stdbool.h>

struct interval {
    double lo, hi;
    bool lo_open, hi_open;
};

static inline struct interval interval_make(double lo, double hi, bool lo_open, bool hi_open)
{
    return (struct interval){lo, hi, lo_open || isinf(lo), hi_open || isinf(hi)};
}

struct interval interval_all(void);
bool interval_is_empty(struct interval a);
bool interval_has_zero(struct interval a);
static inline bool interval_positive(struct interval a)
{
    return a.lo > 0 || (a.lo == 0 && a.lo_open);
}

bool interval_nonnegative(struct interval a);
bool interval_within(struct interval a, double lo, double hi); /* a is inside [lo, hi] */
struct interval interval_meet(struct interval a, struct interval b);
/* Rounds the ends outward to 12 significant bits; magnitudes above 2^40 become infinite, those
 * below 2^-40 become zero. This makes every chain of shrinking intervals finite and short. */
struct interval interval_coarsen(struct interval a);

struct interval interval_neg(struct interval a);
struct interval interval_add(struct interval a, struct interval b);
struct interval interval_mul(struct interval a, struct interval b);
/* Takes the inverses of the nonzero elements of a. */
struct interval interval_inverse(struct interval a);
struct interval interval_abs(struct interval a);
struct interval interval_power_int(struct interval a, long n);        /* n > 0 */
struct interval interval_power(struct interval a, struct interval b); /* elements of a are > 0 */

/* An increasing function, from its values at the ends; a must be inside the function's domain. */
struct interval interval_monotone(struct interval a, double (*f)(double));
struct interval interval_sin(struct interval a);
struct interval interval_cos(struct interval a);
struct interval interval_tan(struct interval a);
