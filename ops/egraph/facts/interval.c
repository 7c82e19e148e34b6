/* Outward-rounded intervals; see interval.h. Results of the C library's functions are assumed to be
 * within SLACK units in the last place (glibc documents at most 4 for those used here, on all its
 * platforms). */
#include "ops/egraph/facts/interval.h"

#include <stdint.h>
#include <string.h>

enum { SLACK = 8, COARSE_BITS = 12 };

/* Returns v moved down by this many doubles. */
static double down(double v, int steps)
{
    while (steps-- > 0)
        v = nextafter(v, -INFINITY);
    return v;
}

static double up(double v, int steps)
{
    return -down(-v, steps);
}

struct interval interval_all(void)
{
    return interval_make(-INFINITY, INFINITY, true, true);
}

bool interval_is_empty(struct interval a)
{
    return a.lo > a.hi || (a.lo == a.hi && (a.lo_open || a.hi_open));
}

bool interval_nonnegative(struct interval a)
{
    return a.lo >= 0;
}

bool interval_has_zero(struct interval a)
{
    return !interval_positive(a) && !interval_positive(interval_neg(a));
}

bool interval_within(struct interval a, double lo, double hi)
{
    return a.lo >= lo && a.hi <= hi;
}

struct interval interval_meet(struct interval a, struct interval b)
{
    struct interval r = a;
    if (b.lo > a.lo || (b.lo == a.lo && b.lo_open)) {
        r.lo = b.lo;
        r.lo_open = b.lo_open;
    }
    if (b.hi < a.hi || (b.hi == a.hi && b.hi_open)) {
        r.hi = b.hi;
        r.hi_open = b.hi_open;
    }
    return r;
}

/* Returns the largest value of COARSE_BITS bits that is at most v. */
static double coarse_down(double v)
{
    enum { FRACTION = 52, DROP = FRACTION + 1 - COARSE_BITS };
    uint64_t bits;
    if (v == 0 || isinf(v))
        return v;
    memcpy(&bits, &v, sizeof bits);
    if (fabs(v) > 0x1p40) /* 2^40 is still a lower bound */
        return v > 0 ? 0x1p40 : -INFINITY;
    if (fabs(v) < 0x1p-40)
        return v > 0 ? 0 : -0x1p-40;
    uint64_t rest = bits & ((1ull << DROP) - 1);
    bits -= rest;
    if (v < 0 && rest) /* round away from zero; a carry into the exponent is correct */
        bits += 1ull << DROP;
    memcpy(&v, &bits, sizeof v);
    return v;
}

struct interval interval_coarsen(struct interval a)
{
    double lo = coarse_down(a.lo), hi = -coarse_down(-a.hi);
    /* an end that moved is not a value, so it is open: 0 < v remains 0 < v */
    return interval_make(lo, hi, a.lo_open || lo != a.lo, a.hi_open || hi != a.hi);
}

struct interval interval_neg(struct interval a)
{
    return interval_make(-a.hi, -a.lo, a.hi_open, a.lo_open);
}

/* Returns the lower end of a sum: exact sums keep their openness, others move down and are open. */
static double low_sum(double a, double b, bool *open)
{
    if (isinf(a) || isinf(b)) {
        *open = true;
        return -INFINITY; /* lower ends are finite or -inf; +inf would bound nothing here */
    }
    double s = a + b, t = s - a, error = (a - (s - t)) + (b - t);
    if (error != 0 || isinf(s)) {
        *open = true;
        return down(s, 1);
    }
    return s;
}

struct interval interval_add(struct interval a, struct interval b)
{
    bool lo_open = a.lo_open || b.lo_open, hi_open = a.hi_open || b.hi_open;
    double lo = low_sum(a.lo, b.lo, &lo_open);
    double hi = -low_sum(-a.hi, -b.hi, &hi_open);
    return interval_make(lo, hi, lo_open, hi_open);
}

struct corner {
    double value; /* the exact product, or the nearest double */
    bool open, exact;
};

static struct corner corner_of(double x, bool x_open, double y, bool y_open)
{
    if ((x == 0 && !x_open) || (y == 0 && !y_open))
        return (struct corner){0, false, true};
    if (x == 0 || y == 0) /* zero times anything below infinity: a limit that is not reached */
        return (struct corner){0, true, true};
    double p = x * y;
    return (struct corner){p, x_open || y_open,
                           isinf(p) ? isinf(x) || isinf(y) : p != 0 && fma(x, y, -p) == 0};
}

struct interval interval_mul(struct interval a, struct interval b)
{
    struct corner c[4] = {
        corner_of(a.lo, a.lo_open, b.lo, b.lo_open), corner_of(a.lo, a.lo_open, b.hi, b.hi_open),
        corner_of(a.hi, a.hi_open, b.lo, b.lo_open), corner_of(a.hi, a.hi_open, b.hi, b.hi_open)};
    struct interval r = {INFINITY, -INFINITY, true, true};
    for (int i = 0; i < 4; i++) {
        double lo = c[i].exact ? c[i].value : down(c[i].value, 1);
        double hi = c[i].exact ? c[i].value : up(c[i].value, 1);
        bool open = c[i].open || !c[i].exact;
        if (lo < r.lo || (lo == r.lo && !open)) {
            r.lo_open = open;
            r.lo = lo;
        }
        if (hi > r.hi || (hi == r.hi && !open)) {
            r.hi_open = open;
            r.hi = hi;
        }
    }
    return interval_make(r.lo, r.hi, r.lo_open, r.hi_open);
}

struct interval interval_inverse(struct interval a)
{
    if (a.lo == 0 && a.hi == 0) /* zero has no inverse */
        return interval_all();
    if (interval_nonnegative(interval_neg(a)))
        return interval_neg(interval_inverse(interval_neg(a)));
    if (!interval_nonnegative(a))
        return interval_all();
    struct interval r = interval_all();
    r.lo = isinf(a.hi) ? 0 : down(1 / a.hi, 1);
    r.lo_open = true;
    if (r.lo < 0)
        r.lo = 0;
    if (a.lo > 0 && !isinf(up(1 / a.lo, 1)))
        r.hi = up(1 / a.lo, 1);
    /* powers of two, above all one, have exact inverses */
    if (!isinf(a.hi) && fma(1 / a.hi, a.hi, -1) == 0) {
        r.lo = 1 / a.hi;
        r.lo_open = a.hi_open;
    }
    if (a.lo > 0 && fma(1 / a.lo, a.lo, -1) == 0) {
        r.hi = 1 / a.lo;
        r.hi_open = a.lo_open;
    }
    return interval_make(r.lo, r.hi, r.lo_open, r.hi_open);
}

struct interval interval_abs(struct interval a)
{
    if (interval_nonnegative(a))
        return a;
    struct interval n = interval_neg(a);
    if (interval_nonnegative(n))
        return n;
    bool left = n.hi > a.hi || (n.hi == a.hi && !n.hi_open);
    return interval_make(0, left ? n.hi : a.hi, false, left ? n.hi_open : a.hi_open);
}

struct interval interval_power_int(struct interval a, long n)
{
    struct interval base = n % 2 == 0 ? interval_abs(a) : a, r = base;
    if (n > 64) /* keep only the sign: such powers are rare and not worth the loop */
        return n % 2 == 0 || interval_nonnegative(a)
                   ? interval_make(0, INFINITY, interval_positive(base), true)
                   : interval_all();
    bool negative = !interval_nonnegative(base) && n % 2 == 1;
    if (negative && !interval_nonnegative(interval_neg(base))) {
        /* a straddles zero: treat each end separately */
        struct interval high =
            interval_power_int(interval_make(0, base.hi, false, base.hi_open), n);
        struct interval low =
            interval_power_int(interval_make(0, -base.lo, false, base.lo_open), n);
        return interval_make(-low.hi, high.hi, low.hi_open, high.hi_open);
    }
    if (negative)
        return interval_neg(interval_power_int(interval_neg(base), n));
    for (long i = 1; i < n; i++)
        r = interval_mul(r, base);
    return r;
}

struct interval interval_power(struct interval a, struct interval b)
{
    /* exp(b ln a): multiply ln a by b, then take the exponential */
    struct interval log_a = interval_monotone(a, log);
    return interval_meet(interval_monotone(interval_mul(log_a, b), exp),
                         interval_make(0, INFINITY, true, true));
}

struct interval interval_monotone(struct interval a, double (*f)(double))
{
    double lo = f(a.lo), hi = f(a.hi);
    /* results such as zero and one are usually exact, but only f(0) = 0 is relied on */
    bool lo_exact = (a.lo == 0 && lo == 0) || isinf(lo);
    bool hi_exact = (a.hi == 0 && hi == 0) || isinf(hi);
    if (isinf(lo) && lo > 0)
        lo = down(lo, 1); /* overflowed: finite, but large */
    if (isinf(hi) && hi < 0)
        hi = up(hi, 1);
    return interval_make(lo_exact ? lo : down(lo, SLACK), hi_exact ? hi : up(hi, SLACK),
                         lo_exact ? a.lo_open : true, hi_exact ? a.hi_open : true);
}

static double sine_down(double v)
{
    v = down(v, SLACK);
    return v < -1 ? -1 : v;
}

/* Returns whether an integer k has offset + 2 pi k within or close to [lo, hi]. */
static bool meets(double lo, double hi, double offset)
{
    const double turn = 6.283185307179586;
    double k = ceil((lo - 1e-6 - offset) / turn);
    return offset + k * turn <= hi + 1e-6;
}

/* A sine or cosine that is 1 at `top` and -1 at `bottom`. */
static struct interval wave(struct interval a, double (*f)(double), double top, double bottom)
{
    struct interval r = interval_make(-1, 1, false, false);
    if (!(fabs(a.lo) < 1e6) || !(fabs(a.hi) < 1e6))
        return r;
    double s = f(a.lo), t = f(a.hi);
    if (!meets(a.lo, a.hi, top))
        r.hi = -sine_down(-(s > t ? s : t));
    if (!meets(a.lo, a.hi, bottom))
        r.lo = sine_down(s < t ? s : t);
    return r;
}

struct interval interval_sin(struct interval a)
{
    const double half_pi = 1.5707963267948966;
    struct interval r = wave(a, sin, half_pi, -half_pi);
    if (a.lo == 0 && r.lo < 0 && r.lo > -1e-300) /* sin 0 is exactly 0 */
        return interval_make(0, r.hi, a.lo_open, r.hi_open);
    return r;
}

struct interval interval_cos(struct interval a)
{
    return wave(a, cos, 0, 3.141592653589793);
}

struct interval interval_tan(struct interval a)
{
    /* only if it is strictly between two poles, with a margin */
    if (a.lo > -1.57079 && a.hi < 1.57079)
        return interval_monotone(a, tan);
    return interval_all();
}
