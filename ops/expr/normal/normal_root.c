#include "ops/expr/normal/normal_root.h"

#include "ops/expr/normal/normal_sign.h"

#include <flint/fmpz_mpoly_factor.h>

const struct generator *root_logarithm(const struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS];
    const struct generator *found = NULL;
    if (!x || !fmpz_mpoly_is_one(fmpz_mpoly_q_denref(x), f->ring))
        return NULL;
    field_used(f, used, x);
    for (size_t i = 1; i < f->n; i++) {
        if (!used[i])
            continue;
        if (found || f->g[i].kind < GENERATOR_LN ||
            fmpz_mpoly_degree_si(fmpz_mpoly_q_numref(x), (slong)i, f->ring) != 1)
            return NULL;
        found = &f->g[i];
    }
    return found && used[0] == (found->kind == GENERATOR_ARG) ? found : NULL;
}

bool root_is_principal(const struct field *f, size_t i)
{
    const struct generator *r = &f->g[i];
    if (r->kind != GENERATOR_EXPONENTIAL || !r->power || field_root_of(f, i) < 2)
        return false;
    const struct generator *ln = root_logarithm(f, f->families[r->family].exponent);
    return ln && ln->kind == GENERATOR_LN;
}

static bool is_positive_number(const struct field *f, const element *x)
{
    return x && fmpz_mpoly_q_is_fmpq(x, f->ring) && !fmpz_mpoly_q_is_zero(x, f->ring) &&
           fmpz_sgn(fmpz_mpoly_q_numref(x)->coeffs) == fmpz_sgn(fmpz_mpoly_q_denref(x)->coeffs);
}

/* Whether w = v + q r and x = q r - v, with a principal square root r = generator i and q > 0. */
static bool are_around(struct field *f, const element *w, const element *x, size_t i)
{
    const element *values[FIELD_MAX_GENERATORS];
    for (size_t k = 0; k < f->n; k++)
        values[k] = field_generator(f, k);
    values[i] = field_rational(f, 0, 1);
    const element *v = field_substitute(f, w, values);
    const element *root = field_sub(f, w, v);
    return is_positive_number(f, field_div(f, root, field_generator(f, i))) &&
           field_equal(f, x, field_sub(f, root, v));
}

const element *root_area_partner(struct field *f, const element *x)
{
    for (size_t k = 1, n = f->n; k < n; k++) {
        if (f->g[k].kind != GENERATOR_LN ||
            !is_positive_number(f, field_reduce(f, field_mul(f, f->g[k].of, x))))
            continue;
        for (size_t i = 1; i < n; i++)
            if (root_is_principal(f, i) && f->g[i].power == 2 && field_root_of(f, i) == 2 &&
                are_around(f, f->g[k].of, x, i))
                return f->g[k].of;
    }
    return NULL;
}

/* ---- squares ---- */

/* Finds the variable x with r^k = a x + b, and its value (r^k - b)/a; returns FIELD_MAX_GENERATORS
 * if the relation has another form. */
static size_t solve(const element **value, struct field *f, size_t r, const element *root)
{
    const element *of = f->g[r].of;
    bool used[FIELD_MAX_GENERATORS];
    size_t i = 1;
    field_used(f, used, of);
    while (i < r && !used[i])
        i++;
    fmpz_mpoly_struct *p = fmpz_mpoly_q_numref((element *)of);
    if (i >= r || fmpz_mpoly_degree_si(p, (slong)i, f->ring) != 1 ||
        fmpz_mpoly_total_degree_si(p, f->ring) != 1 ||
        !fmpz_mpoly_is_fmpz(fmpz_mpoly_q_denref(of), f->ring))
        return FIELD_MAX_GENERATORS;
    for (size_t k = 0; k < r; k++)
        if (used[k] && k != i)
            return FIELD_MAX_GENERATORS;
    element *slope = field_new(f);
    fmpz_mpoly_derivative(fmpz_mpoly_q_numref(slope), p, (slong)i, f->ring);
    fmpz_mpoly_set(fmpz_mpoly_q_denref(slope), fmpz_mpoly_q_denref(of), f->ring);
    fmpz_mpoly_q_canonicalise(slope, f->ring);
    const element *x = field_generator(f, i);
    const element *rest = field_sub(f, of, field_mul(f, slope, x)); /* b */
    *value = field_div(f, field_sub(f, field_power(f, root, (slong)f->g[r].power), rest), slope);
    return i;
}

/* Whether no other root of x depends on generator i. */
static bool is_only_root(struct field *f, const element *x, size_t r, size_t i)
{
    bool used[FIELD_MAX_GENERATORS], under[FIELD_MAX_GENERATORS], only = true;
    field_used(f, used, x);
    for (size_t k = 1; k < f->n; k++)
        if (k != r && used[k] && f->g[k].power) {
            field_used(f, under, f->g[k].of);
            only = only && !under[i];
        }
    return only;
}

const element *square_by_roots(struct field *f, const element *x)
{
    const element *values[FIELD_MAX_GENERATORS];
    bool any = false, used[FIELD_MAX_GENERATORS];
    if (!x)
        return NULL;
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++)
        values[i] = field_generator(f, i);
    for (size_t r = f->n; r-- > 1;) { /* nested roots have the larger numbers */
        const element *value;
        size_t i = used[r] && f->g[r].power ? solve(&value, f, r, values[r]) : FIELD_MAX_GENERATORS;
        if (i == FIELD_MAX_GENERATORS || !is_only_root(f, x, r, i))
            continue;
        values[i] = value;
        any = any || used[i];
        used[i] = true;
    }
    return any ? field_substitute(f, x, values) : x;
}

/* Multiplies v by the square root of the product of factors^n, n = 1 or -1; returns false if a
 * power is odd. */
static bool take_half(const element **v, struct field *f, const fmpz_mpoly_factor_t factors,
                      slong n)
{
    for (slong i = 0; i < factors->num; i++) {
        if (!fmpz_is_even(&factors->exp[i]) || !fmpz_fits_si(&factors->exp[i]))
            return false;
        *v = field_mul(f, *v,
                       field_power(f, field_polynomial(f, &factors->poly[i]),
                                   n * fmpz_get_si(&factors->exp[i]) / 2));
    }
    return *v != NULL;
}

bool square_of(const element **c, const element **v, struct field *f, const element *x)
{
    fmpz_mpoly_factor_t num, den;
    fmpz_mpoly_factor_init(num, f->ring);
    fmpz_mpoly_factor_init(den, f->ring);
    *v = field_rational(f, 1, 1);
    bool ok = x && field_factors(f, fmpz_mpoly_q_numref(x)) &&
              field_factors(f, fmpz_mpoly_q_denref(x)) &&
              fmpz_mpoly_factor(num, fmpz_mpoly_q_numref(x), f->ring) &&
              fmpz_mpoly_factor(den, fmpz_mpoly_q_denref(x), f->ring) && take_half(v, f, num, 1) &&
              take_half(v, f, den, -1);
    if (ok) {
        *c = field_reduce(f, field_div(f, x, field_mul(f, *v, *v)));
        ok = *c && field_is_constant(f, *c) && sign_of(f, *c);
    }
    if (ok && sign_of(f, *c) < 0) {
        *v = field_mul(f, *v, field_generator(f, 0));
        *c = field_neg(f, *c);
    }
    fmpz_mpoly_factor_clear(num, f->ring);
    fmpz_mpoly_factor_clear(den, f->ring);
    return ok && *c && *v && !field_is_constant(f, *v);
}
