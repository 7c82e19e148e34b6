/* Computes the fact of op(a, b) from those of a and b. Every line is a small theorem; the less
 * obvious ones have a proof sketch. Values are complex in general: an interval is read only after
 * FACT_REAL is tested. The test compares with ball arithmetic. */
#include "ops/egraph/facts/fact.h"

#include <math.h>

static const double HALF_PI_UP = 1.5707963267948968, PI_UP = 3.1415926535897936;

static bool is_real(const struct fact *a)
{
    return a->flags & FACT_REAL;
}

static bool is_nonzero(const struct fact *a)
{
    return a->flags & FACT_NONZERO;
}

static bool is_positive(const struct fact *a)
{
    return is_real(a) && interval_positive(fact_interval(a));
}

/* With the variables of one fixed outside a nowhere dense set, the other still varies. */
static bool independent(const struct fact *a, const struct fact *b)
{
    return (a->vars & b->vars) == 0;
}

static bool is_zero(const struct fact *a)
{
    return a->constant != NO_CONSTANT && !is_nonzero(a);
}

static bool varies(const struct fact *a)
{
    return a->flags & FACT_VARIES;
}

static void add(struct fact *r, const struct fact *a, const struct fact *b, bool minus)
{
    struct interval w = minus ? interval_neg(fact_interval(b)) : fact_interval(b);
    if (is_real(a) && is_real(b))
        fact_set_interval(r, interval_add(fact_interval(a), w));
    r->flags |= a->flags & b->flags & FACT_INTEGER;
    if ((varies(a) || varies(b)) && independent(a, b))
        r->flags |= FACT_VARIES;
    if (is_zero(a) || is_zero(b))
        r->degree = is_zero(a) ? b->degree : a->degree;
    else if (a->degree != FACT_NO_DEGREE && b->degree != FACT_NO_DEGREE && a->degree != b->degree)
        r->degree = a->degree > b->degree ? a->degree : b->degree;
}

static void multiply(struct fact *r, const struct fact *a, const struct fact *b)
{
    if (is_real(a) && is_real(b))
        fact_set_interval(r, interval_mul(fact_interval(a), fact_interval(b)));
    r->flags |= a->flags & b->flags & (FACT_INTEGER | FACT_NONZERO);
    if (is_nonzero(a) && is_nonzero(b) && (varies(a) || varies(b)) && independent(a, b))
        r->flags |= FACT_VARIES;
    /* total degrees add: polynomials have no zero divisors */
    if (a->degree != FACT_NO_DEGREE && b->degree != FACT_NO_DEGREE &&
        a->degree + b->degree <= FACT_MAX_DEGREE)
        r->degree = (uint16_t)(a->degree + b->degree);
}

static void divide(struct fact *r, const struct fact *a, const struct fact *b)
{
    if (is_real(a) && is_real(b) && is_nonzero(b))
        fact_set_interval(r, interval_mul(fact_interval(a), interval_inverse(fact_interval(b))));
    r->flags |= a->flags & FACT_NONZERO;
    if (is_nonzero(a) && is_nonzero(b) && (varies(a) || varies(b)) && independent(a, b))
        r->flags |= FACT_VARIES;
    if (a->degree != FACT_NO_DEGREE && b->degree == 0)
        r->degree = a->degree;
}

static void power(struct fact *r, struct facts *t, const struct fact *a, const struct fact *b)
{
    long n = 0;
    bool is_integer = b->constant != NO_CONSTANT && constant_small(&n, &t->constants, b->constant);
    struct interval v = fact_interval(a);
    if (is_positive(a) && is_real(b))
        fact_set_interval(r, interval_power(v, fact_interval(b)));
    if (is_real(a) && is_integer && n > 0)
        fact_set_interval(r, interval_power_int(v, n));
    else if (is_real(a) && is_integer && n < 0 && is_nonzero(a))
        fact_set_interval(r, interval_inverse(interval_power_int(v, -n)));
    else if (is_real(a) && is_nonzero(a) && !is_positive(a) && (b->flags & FACT_INTEGER))
        fact_set_interval(r, interval_all());
    else if (is_real(a) && interval_nonnegative(v) && !is_nonzero(a) && is_positive(b))
        fact_set_interval(r, interval_make(0, INFINITY, false, true)); /* 0^b is 0 */
    r->flags |= a->flags & FACT_NONZERO; /* exp(b ln a) has no zeros */
    if (is_integer && n >= 0)
        r->flags |= a->flags & FACT_INTEGER;
    bool base_is_one = !is_real(a) || (fact_interval(a).lo <= 1 && fact_interval(a).hi >= 1);
    if (varies(a) && is_nonzero(b) && independent(a, b))
        r->flags |= FACT_VARIES;
    if (varies(b) && is_nonzero(a) && !base_is_one && independent(a, b))
        r->flags |= FACT_VARIES;
    if (is_integer && n > 0 && a->degree != FACT_NO_DEGREE && a->degree * n <= FACT_MAX_DEGREE)
        r->degree = (uint16_t)(a->degree * n);
}

static void circular(struct fact *r, unsigned op, const struct fact *a)
{
    if (!is_real(a))
        return;
    struct interval v = fact_interval(a), s = interval_sin(v), c = interval_cos(v);
    struct interval outside = interval_all(); /* |1/s| >= 1, but with both signs */
    switch (op) {
    case X_SIN: fact_set_interval(r, s); break;
    case X_COS: fact_set_interval(r, c); break;
    case X_TAN: fact_set_interval(r, interval_tan(v)); break;
    case X_CSC: fact_set_interval(r, interval_has_zero(s) ? outside : interval_inverse(s)); break;
    case X_SEC: fact_set_interval(r, interval_has_zero(c) ? outside : interval_inverse(c)); break;
    case X_COT: fact_set_interval(r, interval_all()); break;
    }
}

static struct interval hyperbolic_cosine(struct interval v)
{
    struct interval c = interval_monotone(interval_abs(v), cosh);
    return interval_meet(c, interval_make(1, INFINITY, !interval_has_zero(v), true));
}

static void hyperbolic(struct fact *r, unsigned op, const struct fact *a)
{
    if (!is_real(a))
        return;
    struct interval v = fact_interval(a), s = interval_monotone(v, sinh);
    struct interval c = hyperbolic_cosine(v);
    struct interval t = interval_meet(interval_monotone(v, tanh), interval_make(-1, 1, true, true));
    bool inverse = op == X_CSCH || op == X_COTH;
    if (inverse && !is_nonzero(a))
        return; /* may be undefined everywhere, so nothing is claimed */
    switch (op) {
    case X_SINH: fact_set_interval(r, s); break;
    case X_COSH: fact_set_interval(r, c); break;
    case X_TANH: fact_set_interval(r, t); break;
    case X_SECH: fact_set_interval(r, interval_inverse(c)); break;
    case X_CSCH: fact_set_interval(r, interval_inverse(s)); break;
    case X_COTH:
        fact_set_interval(r, interval_inverse(t));
        r->flags |= FACT_NONZERO;
        break;
    }
    if ((op == X_SINH || op == X_TANH) && is_nonzero(a))
        r->flags |= FACT_NONZERO; /* its complex zeros are multiples of i pi */
}

/* For the six direct inverses (asin acos atan asinh acosh atanh) at an argument in v. */
static void inverse_function(struct fact *r, unsigned op, struct interval v)
{
    switch (op) {
    case X_ASIN:
        if (interval_within(v, -1, 1))
            fact_set_interval(r, interval_monotone(v, asin));
        break;
    case X_ACOS:
        if (interval_within(v, -1, 1)) {
            struct interval w = interval_neg(interval_monotone(v, asin)); /* pi/2 - asin */
            struct interval half_pi = interval_make(1.5707963267948966, HALF_PI_UP, true, true);
            fact_set_interval(r,
                              interval_meet(interval_add(half_pi, w),
                                            interval_make(0, PI_UP, v.hi_open || v.hi < 1, false)));
        }
        break;
    case X_ATAN:
        fact_set_interval(r, interval_meet(interval_monotone(v, atan),
                                           interval_make(-HALF_PI_UP, HALF_PI_UP, true, true)));
        break;
    case X_ASINH: fact_set_interval(r, interval_monotone(v, asinh)); break;
    case X_ACOSH:
        if (v.lo >= 1)
            fact_set_interval(
                r, interval_meet(interval_monotone(v, acosh),
                                 interval_make(0, INFINITY, v.lo > 1 || v.lo_open, true)));
        break;
    case X_ATANH:
        /* the ends are poles; a constant there is undefined */
        if (interval_within(v, -1, 1) && (v.lo > -1 || v.lo_open) && (v.hi < 1 || v.hi_open))
            fact_set_interval(r, interval_monotone(v, atanh));
        break;
    }
}

static void inverse_circular(struct fact *r, unsigned op, const struct fact *a)
{
    static const unsigned direct[] = {
        [X_ACSC] = X_ASIN,   [X_ASEC] = X_ACOS,   [X_ACOT] = X_ATAN,
        [X_ACSCH] = X_ASINH, [X_ASECH] = X_ACOSH, [X_ACOTH] = X_ATANH,
    };
    bool reciprocal = op < sizeof direct / sizeof *direct && direct[op];
    if (reciprocal) {
        if (is_real(a) && is_nonzero(a))
            inverse_function(r, direct[op], interval_inverse(fact_interval(a)));
        if (op != X_ASEC && op != X_ASECH)
            r->flags |= FACT_NONZERO; /* f(1/a) is 0 only if 1/a is */
        return;
    }
    if (is_real(a))
        inverse_function(r, op, fact_interval(a));
    if (op != X_ACOS && op != X_ACOSH)
        r->flags |= a->flags & FACT_NONZERO; /* on principal branches f(a) = 0 only at a = 0 */
}

struct fact fact_of_operation(struct facts *t, unsigned op, const struct fact *a,
                              const struct fact *b)
{
    struct fact r = {.constant = NO_CONSTANT, .degree = FACT_NO_DEGREE};
    r.vars = a->vars | (b ? b->vars : 0);
    if (a->constant != NO_CONSTANT && (!b || b->constant != NO_CONSTANT)) {
        r.constant = constant_fold(&t->constants, op, a->constant, b ? b->constant : NO_CONSTANT);
        if (r.constant != NO_CONSTANT)
            return r; /* normalize() fills in the rest */
    }
    /* every function of one argument is piecewise analytic and constant on no piece */
    if (!b && op != X_ABS && op != X_D)
        r.flags |= a->flags & FACT_VARIES;
    switch (op) {
    case X_ADD: add(&r, a, b, false); break;
    case X_SUB: add(&r, a, b, true); break;
    case X_MUL: multiply(&r, a, b); break;
    case X_DIV: divide(&r, a, b); break;
    case X_POW: power(&r, t, a, b); break;
    case X_SQRT:
        if (is_real(a) && interval_nonnegative(fact_interval(a)))
            fact_set_interval(&r, interval_monotone(fact_interval(a), sqrt));
        r.flags |= a->flags & FACT_NONZERO;
        break;
    case X_ABS:
        fact_set_interval(&r, is_real(a) ? interval_abs(fact_interval(a))
                                         : interval_make(0, INFINITY, false, true));
        r.flags |= a->flags & (FACT_NONZERO | FACT_INTEGER);
        if (is_real(a))
            r.flags |= a->flags & FACT_VARIES;
        break;
    case X_D: /* d(x, f) */
        r.vars = b->vars;
        if (is_real(a) && is_real(b))
            fact_set_interval(&r, interval_all());
        break;
    case X_LN:
        if (is_positive(a))
            fact_set_interval(&r, interval_monotone(fact_interval(a), log));
        break;
    case X_SIN:
    case X_COS:
    case X_TAN:
    case X_COT: circular(&r, op, a); break;
    case X_CSC:
    case X_SEC:
        circular(&r, op, a);
        r.flags |= FACT_NONZERO; /* 1/f has no zeros */
        break;
    case X_SECH: r.flags |= FACT_NONZERO; /* fall through */
    case X_SINH:
    case X_COSH:
    case X_TANH:
    case X_COTH: hyperbolic(&r, op, a); break;
    case X_CSCH:
        hyperbolic(&r, op, a);
        r.flags |= FACT_NONZERO;
        break;
    default: inverse_circular(&r, op, a); break;
    }
    return r;
}
