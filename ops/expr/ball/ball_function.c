/* Functions by name, and domains. Arb takes very long for some arguments (the zeta function far up
 * the critical line) and at very high precision: arguments of its analytic functions beyond
 * MAX_SIZE have no value, and precision is capped at MAX_BITS. */
#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/ball/ball_parts.h"

#include <acb_elliptic.h>
#include <acb_hypgeom.h>
#include <string.h>

enum { MAX_SIZE = 16, MAX_BITS = 4096 }; /* arguments are below 2^MAX_SIZE */

typedef void unary(acb_t out, const acb_t z, slong precision);
typedef void binary(acb_t out, const acb_t y, const acb_t z, slong precision);

struct ball_function {
    const char *name;
    unary *unary; /* one of them; an analytic function */
    binary *binary;
    ball_part *part, *step, *angle; /* of one real or complex, one real, two real arguments */
    ball_part_series *series;       /* of a part */
};

#define UNARY(name, call)                                                                          \
    static void name(acb_t out, const acb_t z, slong precision)                                    \
    {                                                                                              \
        call;                                                                                      \
    }

UNARY(airy_ai, acb_hypgeom_airy(out, NULL, NULL, NULL, z, precision))
UNARY(airy_bi, acb_hypgeom_airy(NULL, NULL, out, NULL, z, precision))
UNARY(fresnel_c, acb_hypgeom_fresnel(NULL, out, z, 1, precision))
UNARY(fresnel_s, acb_hypgeom_fresnel(out, NULL, z, 1, precision))
UNARY(lambertw, acb_lambertw(out, z, (fmpz[]){0}, 0, precision))
UNARY(li, acb_hypgeom_li(out, z, 0, precision))

UNARY(factorial, acb_add_ui(out, z, 1, precision); acb_gamma(out, out, precision))

/* gamma(n + 1)/(gamma(k + 1) gamma(n - k + 1)); for an integer k >= 0, a polynomial in n. */
static void binomial(acb_t out, const acb_t n, const acb_t k, slong precision)
{
    acb_t below, t;
    acb_init(below);
    acb_init(t);
    acb_sub(below, n, k, precision);
    acb_add_ui(below, below, 1, precision);
    if (acb_is_int(k) && arb_is_nonnegative(acb_realref(k))) {
        slong count = arf_get_si(arb_midref(acb_realref(k)), ARF_RND_NEAR); /* at most 2^MAX_SIZE */
        acb_rising_ui(out, below, (ulong)count, precision);
        arb_fac_ui(acb_realref(t), (ulong)count, precision);
        acb_div_arb(out, out, acb_realref(t), precision);
    } else {
        acb_rgamma(below, below, precision);
        acb_add_ui(t, k, 1, precision);
        acb_rgamma(t, t, precision);
        acb_mul(below, below, t, precision);
        acb_add_ui(t, n, 1, precision);
        acb_gamma(t, t, precision);
        acb_mul(out, below, t, precision);
    }
    acb_clear(below);
    acb_clear(t);
}

static void gamma_upper(acb_t out, const acb_t y, const acb_t z, slong precision)
{
    acb_hypgeom_gamma_upper(out, y, z, 0, precision);
}

/* Listed in docs/operators.md. */
static const struct ball_function functions[] = {
    {"agm", .binary = acb_agm},
    {"airy_ai", .unary = airy_ai},
    {"airy_bi", .unary = airy_bi},
    {"arg", .part = ball_arg, .series = ball_arg_series},
    {"atan2", .angle = ball_atan2},
    {"barnes_g", .unary = acb_barnes_g},
    {"bessel_i", .binary = acb_hypgeom_bessel_i},
    {"bessel_j", .binary = acb_hypgeom_bessel_j},
    {"bessel_k", .binary = acb_hypgeom_bessel_k},
    {"bessel_y", .binary = acb_hypgeom_bessel_y},
    {"binomial", .binary = binomial},
    {"ceil", .step = ball_ceil},
    {"chebyshev_t", .binary = acb_hypgeom_chebyshev_t},
    {"chebyshev_u", .binary = acb_hypgeom_chebyshev_u},
    {"chi", .unary = acb_hypgeom_chi},
    {"ci", .unary = acb_hypgeom_ci},
    {"conj", .part = ball_conj, .series = ball_conj_series},
    {"digamma", .unary = acb_digamma},
    {"dilog", .unary = acb_hypgeom_dilog},
    {"ei", .unary = acb_hypgeom_ei},
    {"elliptic_e", .unary = acb_elliptic_e},
    {"elliptic_k", .unary = acb_elliptic_k},
    {"erf", .unary = acb_hypgeom_erf},
    {"erfc", .unary = acb_hypgeom_erfc},
    {"erfi", .unary = acb_hypgeom_erfi},
    {"expint", .binary = acb_hypgeom_expint},
    {"factorial", .unary = factorial},
    {"floor", .step = ball_floor},
    {"fresnel_c", .unary = fresnel_c},
    {"fresnel_s", .unary = fresnel_s},
    {"gamma", .unary = acb_gamma},
    {"gamma_upper", .binary = gamma_upper},
    {"hermite_h", .binary = acb_hypgeom_hermite_h},
    {"hurwitz_zeta", .binary = acb_hurwitz_zeta},
    {"im", .part = ball_im, .series = ball_im_series},
    {"lambertw", .unary = lambertw},
    {"lgamma", .unary = acb_lgamma},
    {"li", .unary = li},
    {"polygamma", .binary = acb_polygamma},
    {"polylog", .binary = acb_polylog},
    {"re", .part = ball_re, .series = ball_re_series},
    {"rgamma", .unary = acb_rgamma},
    {"shi", .unary = acb_hypgeom_shi},
    {"sign", .step = ball_sign},
    {"si", .unary = acb_hypgeom_si},
    {"zeta", .unary = acb_zeta},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };
_Static_assert((int)N_FUNCTIONS <= (int)BALL_MAX_FUNCTIONS, "all names fit");

static unsigned arity_of(const struct ball_function *f)
{
    return f->binary || f->angle ? 2 : 1;
}

const struct ball_function *ball_function_find(const char *name, unsigned arity)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (arity_of(&functions[i]) == arity && strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

const char *ball_function_name(const struct ball_function *f)
{
    return f->name;
}

size_t ball_function_names(const char **out, unsigned arity)
{
    size_t n = 0;
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (arity_of(&functions[i]) == arity)
            out[n++] = functions[i].name;
    return n;
}

bool ball_function_is_analytic(const struct ball_function *f)
{
    return f->unary || f->binary;
}

bool ball_function_has_steps(const struct ball_function *f)
{
    return f->step != NULL;
}

static bool apply_analytic(acb_struct *z, const struct ball_function *f, slong precision)
{
    acb_t out;
    mag_t size;
    bool near = true;
    mag_init(size);
    for (unsigned i = 0; i < arity_of(f); i++) {
        acb_get_mag(size, z + i);
        near = near && mag_cmp_2exp_si(size, MAX_SIZE) < 0;
    }
    mag_clear(size);
    if (!near)
        return false;
    acb_init(out);
    precision = precision < MAX_BITS ? precision : MAX_BITS;
    if (f->unary)
        f->unary(out, z, precision);
    else
        f->binary(out, z, z + 1, precision);
    acb_swap(z, out);
    acb_clear(out);
    return true;
}

bool ball_function_apply(acb_struct *z, const struct ball_function *f, slong precision)
{
    return f->part    ? f->part(z, precision)
           : f->step  ? f->step(z, precision)
           : f->angle ? f->angle(z, precision)
                      : apply_analytic(z, f, precision);
}

bool ball_function_series(bool *ok, acb_poly_struct *f, const struct ball_function *function,
                          slong order, bool real, slong precision)
{
    if (function->series)
        *ok = real && function->series(f, order, precision);
    else if (function->step)
        *ok = ball_step_series(f, function->step, precision);
    return function->series || function->step;
}

/* Whether x is on the inner side of a bound of a domain; *unsure if that is undecided. */
static bool is_within(bool *unsure, const arb_struct *x, const char *end, bool closed, bool below,
                      slong precision)
{
    acb_t d;
    acb_init(d);
    ball_set_number(d, end, precision);
    arb_sub(acb_realref(d), x, acb_realref(d), precision);
    if (below)
        acb_neg(d, d);
    const arb_struct *beyond = acb_realref(d);
    bool past = closed ? arb_is_nonnegative(beyond) : arb_is_positive(beyond);
    bool out = closed ? arb_is_negative(beyond) : arb_is_nonpositive(beyond);
    *unsure |= !past && !out;
    acb_clear(d);
    return !out;
}

bool ball_in_domain(bool *unsure, const acb_struct *z, const struct ball_domain *d, slong precision)
{
    const arb_struct *x = acb_realref(z);
    *unsure = !acb_is_finite(z);
    if (*unsure || strcmp(d->domain, "complex") == 0)
        return true;
    if (strcmp(d->domain, "nonzero") == 0) {
        *unsure = acb_contains_zero(z) && !acb_is_zero(z);
        return !acb_is_zero(z);
    }
    if (!ball_is_real(z)) {
        *unsure = arb_contains_zero(acb_imagref(z));
        return *unsure;
    }
    if (strcmp(d->domain, "integer") == 0) {
        *unsure = !arb_is_exact(x) && arb_contains_int(x);
        return *unsure || arb_is_int(x);
    }
    bool closed = strcmp(d->domain, "nonnegative") == 0;
    const char *low = d->low ? d->low : closed || strcmp(d->domain, "positive") == 0 ? "0" : NULL;
    closed = d->low ? d->low_closed : closed;
    return (!low || is_within(unsure, x, low, closed, false, precision)) &&
           (!d->high || is_within(unsure, x, d->high, d->high_closed, true, precision));
}
