/* See ball_function.h. Arb takes very long for some arguments (the zeta function far up the
 * critical line) and at very many bits: beyond MAX_SIZE there is no value, and beyond MAX_BITS no
 * better one. */
#include "ops/expr/ball/ball_function.h"

#include "ops/expr/ball/ball_eval.h"

#include <acb_elliptic.h>
#include <acb_hypgeom.h>
#include <string.h>

enum { MAX_SIZE = 16, MAX_BITS = 4096 }; /* arguments are below 2^MAX_SIZE */

/* z: one or two arguments; not aliased. */
typedef void function(acb_struct *out, const acb_struct *z, slong precision);

struct ball_function {
    const char *name;
    unsigned arity;
    function *apply;
};

#define FUNCTION(name, call)                                                                       \
    static void eval_##name(acb_struct *out, const acb_struct *z, slong precision)                 \
    {                                                                                              \
        call;                                                                                      \
    }
#define UNARY(name, arb) FUNCTION(name, arb(out, z, precision))
#define BINARY(name, arb) FUNCTION(name, arb(out, z, z + 1, precision))

BINARY(agm, acb_agm)
FUNCTION(airy_ai, acb_hypgeom_airy(out, NULL, NULL, NULL, z, precision))
FUNCTION(airy_bi, acb_hypgeom_airy(NULL, NULL, out, NULL, z, precision))
UNARY(barnes_g, acb_barnes_g)
BINARY(bessel_i, acb_hypgeom_bessel_i)
BINARY(bessel_j, acb_hypgeom_bessel_j)
BINARY(bessel_k, acb_hypgeom_bessel_k)
BINARY(bessel_y, acb_hypgeom_bessel_y)
BINARY(chebyshev_t, acb_hypgeom_chebyshev_t)
BINARY(chebyshev_u, acb_hypgeom_chebyshev_u)
UNARY(chi, acb_hypgeom_chi)
UNARY(ci, acb_hypgeom_ci)
UNARY(digamma, acb_digamma)
UNARY(dilog, acb_hypgeom_dilog)
UNARY(ei, acb_hypgeom_ei)
UNARY(elliptic_e, acb_elliptic_e)
UNARY(elliptic_k, acb_elliptic_k)
UNARY(erf, acb_hypgeom_erf)
UNARY(erfc, acb_hypgeom_erfc)
UNARY(erfi, acb_hypgeom_erfi)
BINARY(expint, acb_hypgeom_expint)
FUNCTION(fresnel_c, acb_hypgeom_fresnel(NULL, out, z, 1, precision))
FUNCTION(fresnel_s, acb_hypgeom_fresnel(out, NULL, z, 1, precision))
UNARY(gamma, acb_gamma)
FUNCTION(gamma_upper, acb_hypgeom_gamma_upper(out, z, z + 1, 0, precision))
BINARY(hermite_h, acb_hypgeom_hermite_h)
BINARY(hurwitz_zeta, acb_hurwitz_zeta)
FUNCTION(lambertw, acb_lambertw(out, z, (fmpz[]){0}, 0, precision))
UNARY(lgamma, acb_lgamma)
FUNCTION(li, acb_hypgeom_li(out, z, 0, precision))
BINARY(polygamma, acb_polygamma)
BINARY(polylog, acb_polylog)
UNARY(rgamma, acb_rgamma)
UNARY(shi, acb_hypgeom_shi)
UNARY(si, acb_hypgeom_si)
UNARY(zeta, acb_zeta)

#define ROW(name, arity)                                                                           \
    {                                                                                              \
#name, arity, eval_##name                                                                  \
    }

/* docs/operators.md lists them. */
static const struct ball_function functions[] = {
    ROW(agm, 2),         ROW(airy_ai, 1),     ROW(airy_bi, 1),      ROW(barnes_g, 1),
    ROW(bessel_i, 2),    ROW(bessel_j, 2),    ROW(bessel_k, 2),     ROW(bessel_y, 2),
    ROW(chebyshev_t, 2), ROW(chebyshev_u, 2), ROW(chi, 1),          ROW(ci, 1),
    ROW(digamma, 1),     ROW(dilog, 1),       ROW(ei, 1),           ROW(elliptic_e, 1),
    ROW(elliptic_k, 1),  ROW(erf, 1),         ROW(erfc, 1),         ROW(erfi, 1),
    ROW(expint, 2),      ROW(fresnel_c, 1),   ROW(fresnel_s, 1),    ROW(gamma, 1),
    ROW(gamma_upper, 2), ROW(hermite_h, 2),   ROW(hurwitz_zeta, 2), ROW(lambertw, 1),
    ROW(lgamma, 1),      ROW(li, 1),          ROW(polygamma, 2),    ROW(polylog, 2),
    ROW(rgamma, 1),      ROW(shi, 1),         ROW(si, 1),           ROW(zeta, 1),
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };
_Static_assert((int)N_FUNCTIONS <= (int)BALL_MAX_FUNCTIONS, "all names fit");

const struct ball_function *ball_function_find(const char *name, unsigned arity)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (functions[i].arity == arity && strcmp(functions[i].name, name) == 0)
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
        if (functions[i].arity == arity)
            out[n++] = functions[i].name;
    return n;
}

bool ball_function_apply(acb_struct *z, const struct ball_function *f, slong precision)
{
    acb_t out;
    mag_t size;
    bool near = true;
    mag_init(size);
    for (unsigned i = 0; i < f->arity; i++) {
        acb_get_mag(size, z + i);
        near = near && mag_cmp_2exp_si(size, MAX_SIZE) < 0;
    }
    mag_clear(size);
    if (!near)
        return false;
    acb_init(out);
    f->apply(out, z, precision < MAX_BITS ? precision : MAX_BITS);
    acb_swap(z, out);
    acb_clear(out);
    return true;
}

/* Above (or, if `below`, below) an end of the domain, or, if that belongs to it, there. */
static bool is_past(bool *unsure, const arb_struct *x, const char *end, bool closed, bool below,
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
    *unsure = *unsure || (!past && !out);
    acb_clear(d);
    return past;
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
    if (strcmp(d->domain, "nonnegative") == 0) {
        *unsure = !arb_is_nonnegative(x) && !arb_is_negative(x);
        return !arb_is_negative(x);
    }
    const char *low = d->low ? d->low : strcmp(d->domain, "positive") == 0 ? "0" : NULL;
    bool in = !low || is_past(unsure, x, low, d->low_closed, false, precision);
    if (!in && !*unsure)
        return false;
    bool unsure_low = *unsure;
    *unsure = false;
    in = !d->high || is_past(unsure, x, d->high, d->high_closed, true, precision) || *unsure;
    *unsure |= unsure_low;
    return in;
}
