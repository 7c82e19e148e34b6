/* Functions of other functions are replaced before (own_law). Those that remain are related to
 * applications that are generators already: gamma(x + n) = x (x + 1) ... gamma(x), floor(x + n) =
 * floor(x) + n, erf(-x) = -erf(x). */
#include "ops/expr/normal/normal_function.h"

#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_exp.h"
#include "ops/expr/normal/normal_sign.h"
#include "ops/expr/own/own.h"

#include <string.h>

enum { MAX_SHIFT = 40 };

bool normal_is_integer(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], integer = fmpz_mpoly_is_one(fmpz_mpoly_q_denref(x), f->ring);
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++)
        integer = integer && (!used[i] || f->g[i].integer);
    return integer;
}

/* Whether x is an integer of at most MAX_SHIFT in absolute value. */
static bool small_integer(slong *n, const struct field *f, const element *x)
{
    fmpq_t q;
    fmpq_init(q);
    bool small = x && field_get_rational(q, f, x) && fmpz_is_one(fmpq_denref(q)) &&
                 fmpz_cmpabs(fmpq_numref(q), (fmpz[]){MAX_SHIFT}) <= 0;
    *n = small ? fmpz_get_si(fmpq_numref(q)) : 0;
    fmpq_clear(q);
    return small;
}

/* Whether generator i is an application of the function. */
static bool is_application(const struct field *f, size_t i, const struct ball_function *function)
{
    return f->g[i].kind == GENERATOR_OWN &&
           f->lang->ops[f->g[i].variable->op].own->function == function;
}

static const element *rational(struct field *f, slong p, ulong q)
{
    return field_rational(f, p, q);
}

/* ---- of complex numbers ---- */

/* Also of exponentials: the conjugate of e^w is e^conj(w). */
static const element *conjugate(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS];
    const element *values[FIELD_MAX_GENERATORS] = {0}, *known = normal_conjugate(f, x);
    if (known || !x)
        return known;
    field_used(f, used, x);
    for (size_t i = 0, n = f->n; i < n; i++) {
        if (!used[i] || (values[i] = normal_conjugate(f, field_generator(f, i))))
            continue;
        if (f->g[i].kind != GENERATOR_EXPONENTIAL)
            return NULL;
        const element *exponent = conjugate(f, f->families[f->g[i].family].exponent);
        const element *part = rational(f, 1, (ulong)field_root_of(f, i));
        if (!(values[i] = normal_exp(f, field_mul(f, exponent, part))))
            return NULL;
    }
    return field_substitute(f, x, values);
}

/* (x - conjugate)/(2 i) */
static const element *imaginary_part(struct field *f, const element *x)
{
    const element *other = conjugate(f, x);
    if (!other)
        return NULL;
    return field_div(f, field_sub(f, x, other),
                     field_mul(f, rational(f, 2, 1), field_generator(f, 0)));
}

static const element *argument(struct field *f, const element *x)
{
    if (field_is_zero(f, x))
        return NULL;
    const element *ln = normal_ln(f, x), *part = imaginary_part(f, ln);
    return part ? part
                : field_div(f, field_sub(f, ln, normal_ln(f, normal_abs(f, x))),
                            field_generator(f, 0));
}

static const element *angle(struct field *f, const element *y, const element *x)
{
    if (!normal_is_real(f, x) || !normal_is_real(f, y))
        return NULL;
    return argument(f, field_add(f, x, field_mul(f, field_generator(f, 0), y)));
}

/* ---- with steps ---- */

static const element *sign(struct field *f, const struct ball_function *function, const element *x)
{
    if (field_is_zero(f, x))
        return x;
    if (!normal_is_real(f, x))
        return NULL;
    int known = sign_strictly(f, x);
    if (known)
        return rational(f, known, 1);
    if (sign_is_meromorphic(f, x)) /* its zeros are isolated */
        return field_div(f, x, normal_abs(f, x));
    for (size_t i = 1; i < f->n; i++)
        if (is_application(f, i, function) &&
            field_is_zero(f, field_add(f, f->g[i].arguments[0], x)))
            return field_neg(f, field_generator(f, i));
    return NULL;
}

/* The floor of a number. */
static const element *floor_of_constant(struct field *f, const element *x)
{
    acb_t z;
    ca_t v;
    fmpz_t n;
    acb_init(z);
    ca_init(v, f->numbers);
    fmpz_init(n);
    field_value(v, f, x);
    ca_get_acb(z, v, 256, f->numbers);
    arb_floor(acb_realref(z), acb_realref(z), 256);
    bool known = acb_is_finite(z) && arb_get_unique_fmpz(n, acb_realref(z));
    const element *out = known ? field_integer(f, n) : NULL;
    acb_clear(z);
    ca_clear(v, f->numbers);
    fmpz_clear(n);
    return out;
}

static const element *floor_of(struct field *f, const struct ball_function *function,
                               const element *x)
{
    if (!normal_is_real(f, x))
        return NULL;
    if (normal_is_integer(f, x))
        return x;
    if (field_is_constant(f, x))
        return floor_of_constant(f, x);
    if (sign_of(f, x) > 0 && sign_strictly(f, field_sub(f, rational(f, 1, 1), x)) > 0)
        return rational(f, 0, 1);
    for (size_t i = 1; i < f->n; i++) {
        const element *d =
            is_application(f, i, function) ? field_sub(f, x, f->g[i].arguments[0]) : NULL;
        if (d && normal_is_integer(f, d = field_reduce(f, d)))
            return field_add(f, field_generator(f, i), d);
    }
    return NULL;
}

/* ---- analytic ---- */

/* x (x + 1) ... (x + n - 1) */
static const element *rising(struct field *f, const element *x, slong n)
{
    const element *product = rational(f, 1, 1);
    for (slong k = 0; k < n && product; k++)
        product = field_mul(f, product, field_add(f, x, rational(f, k, 1)));
    return product;
}

static const element *gamma_function(struct field *f, const struct ball_function *function,
                                     const element *x)
{
    slong n;
    if (small_integer(&n, f, x))
        return n > 0 ? rising(f, rational(f, 1, 1), n - 1) : NULL;
    for (size_t i = 1; i < f->n; i++) {
        const element *y = f->g[i].arguments[0];
        if (!is_application(f, i, function) || !small_integer(&n, f, field_sub(f, x, y)))
            continue;
        const element *g = field_generator(f, i);
        return n > 0 ? field_mul(f, g, rising(f, y, n)) : field_div(f, g, rising(f, x, -n));
    }
    const element *half = rational(f, 1, 2);
    if (!small_integer(&n, f, field_sub(f, x, half)))
        return NULL;
    const element *root =
        normal_exp(f, field_mul(f, normal_ln(f, field_named(f, 'p')), half)); /* gamma(1/2) */
    return n > 0 ? field_mul(f, root, rising(f, half, n)) : field_div(f, root, rising(f, x, -n));
}

/* polygamma(m, x + n) - polygamma(m, x) is the sum of (-1)^m m!/(x + k)^(m + 1) */
static const element *polygamma(struct field *f, const struct ball_function *function,
                                const element *order, const element *x)
{
    slong m, n;
    if (!small_integer(&m, f, order) || m < 0)
        return NULL;
    for (size_t i = 1; i < f->n; i++) {
        const element *y = f->g[i].arguments[1], *sum = field_generator(f, i);
        if (!is_application(f, i, function) || !field_equal(f, f->g[i].arguments[0], order) ||
            !small_integer(&n, f, field_sub(f, x, y)))
            continue;
        const element *from = n > 0 ? y : x, *factor = rising(f, rational(f, 1, 1), m);
        if ((m % 2 == 0) != (n > 0))
            factor = field_neg(f, factor);
        for (slong k = 0; k < (n > 0 ? n : -n) && sum; k++) {
            const element *at = field_add(f, from, rational(f, k, 1));
            sum = field_add(f, sum, field_div(f, factor, field_power(f, at, m + 1)));
        }
        return sum;
    }
    return NULL;
}

static const element *error_function(struct field *f, const struct ball_function *function,
                                     const element *x)
{
    if (field_is_zero(f, x))
        return x;
    for (size_t i = 1; i < f->n; i++)
        if (is_application(f, i, function) &&
            field_is_zero(f, field_add(f, f->g[i].arguments[0], x)))
            return field_neg(f, field_generator(f, i));
    return NULL;
}

const element *normal_function(struct field *f, const struct ball_function *function,
                               const element *const *arguments)
{
    const char *name = ball_function_name(function);
    const element *x = arguments[0];
    return strcmp(name, "conj") == 0        ? conjugate(f, x)
           : strcmp(name, "arg") == 0       ? argument(f, x)
           : strcmp(name, "atan2") == 0     ? angle(f, x, arguments[1])
           : strcmp(name, "sign") == 0      ? sign(f, function, x)
           : strcmp(name, "floor") == 0     ? floor_of(f, function, x)
           : strcmp(name, "gamma") == 0     ? gamma_function(f, function, x)
           : strcmp(name, "polygamma") == 0 ? polygamma(f, function, x, arguments[1])
           : strcmp(name, "erf") == 0       ? error_function(f, function, x)
                                            : NULL;
}
