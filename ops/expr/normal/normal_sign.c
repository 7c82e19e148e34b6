/* Signs by sufficient conditions: a polynomial whose coefficients have one sign in generators that
 * are positive or occur in even powers; one in a single variable without real roots. A variable or
 * root with a bounded interval is first replaced by a function of a positive variable that maps
 * onto the interval. */
#include "ops/expr/normal/normal_sign.h"

#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_range.h"
#include "ops/expr/own/own.h"

#include <flint/fmpz_mpoly_factor.h>
#include <flint/fmpz_poly.h>

static bool has_interval(const struct generator *g)
{
    return g->real && (g->low || g->high);
}

/* t > 0 -> low + t, high - t or (low + high t)/(1 + t) */
static const element *from_positive(struct field *f, size_t i)
{
    const element *t = field_generator(f, i), *one = field_rational(f, 1, 1);
    const struct generator *g = &f->g[i];
    if (g->low && g->high)
        return field_div(
            f, field_add(f, field_number(f, g->low), field_mul(f, field_number(f, g->high), t)),
            field_add(f, one, t));
    return g->low ? field_add(f, field_number(f, g->low), t)
                  : field_sub(f, field_number(f, g->high), t);
}

/* `shifted`: variables with an interval have been replaced by positive ones. */
static int sign_by_coefficients(const struct field *f, const fmpz_mpoly_t p, bool shifted)
{
    int sign = 0;
    ulong e[FIELD_MAX_GENERATORS];
    for (slong i = 0; i < fmpz_mpoly_length(p, f->ring); i++) {
        int own = fmpz_sgn(p->coeffs + i);
        fmpz_mpoly_get_term_exp_ui(e, p, i, f->ring);
        bool known = sign == 0 || sign == own;
        sign = own;
        for (size_t k = 0; k < f->n; k++)
            known =
                known && (e[k] == 0 || f->g[k].positive || (shifted && has_interval(&f->g[k])) ||
                          (f->g[k].real && e[k] % 2 == 0));
        if (!known)
            return 0;
    }
    return sign;
}

/* By Sturm's theorem, if p is a polynomial in one real generator. */
static int sign_without_roots(const struct field *f, const fmpz_mpoly_t p)
{
    size_t only = FIELD_MAX_GENERATORS;
    for (size_t i = 0; i < f->n; i++)
        if (fmpz_mpoly_degree_si(p, (slong)i, f->ring) > 0) {
            if (only != FIELD_MAX_GENERATORS || !f->g[i].real)
                return 0;
            only = i;
        }
    fmpz_poly_t u;
    int sign = 0;
    fmpz_poly_init(u);
    if (only != FIELD_MAX_GENERATORS && fmpz_mpoly_degree_si(p, (slong)only, f->ring) <= 20 &&
        fmpz_mpoly_get_fmpz_poly(u, p, (slong)only, f->ring) && fmpz_poly_is_squarefree(u) &&
        fmpz_poly_num_real_roots(u) == 0)
        sign = fmpz_sgn(fmpz_poly_lead(u));
    fmpz_poly_clear(u);
    return sign;
}

/* Returns 1 or -1 if the polynomial is known to have that sign or be zero at some points; else 0.
 */
static int sign_of_polynomial(struct field *f, const fmpz_mpoly_t p)
{
    int sign = sign_by_coefficients(f, p, false);
    if (!sign)
        sign = sign_without_roots(f, p);
    const element *values[FIELD_MAX_GENERATORS] = {0};
    bool used[FIELD_MAX_GENERATORS], any = false;
    const element *x = field_polynomial(f, p);
    field_used(f, used, x);
    for (size_t i = 0; i < f->n && !sign; i++)
        if (used[i]) {
            bool interval = has_interval(&f->g[i]);
            values[i] = interval ? from_positive(f, i) : field_generator(f, i);
            any = any || interval;
        }
    if (sign || !any || !(x = field_substitute(f, x, values)))
        return sign;
    return sign_by_coefficients(f, fmpz_mpoly_q_numref(x), true) *
           sign_by_coefficients(f, fmpz_mpoly_q_denref(x), true);
}

static bool has_constant_term(const struct field *f, const fmpz_mpoly_t p)
{
    ulong none[FIELD_MAX_GENERATORS] = {0};
    fmpz_t c;
    fmpz_init(c);
    fmpz_mpoly_get_coeff_fmpz_ui(c, p, none, f->ring);
    bool has = !fmpz_is_zero(c);
    fmpz_clear(c);
    return has;
}

bool sign_is_strict(struct field *f, const fmpz_mpoly_t p)
{
    bool used[FIELD_MAX_GENERATORS], positive = true;
    field_used(f, used, field_polynomial(f, p));
    for (size_t i = 0; i < f->n; i++)
        positive = positive && (!used[i] || f->g[i].positive || has_interval(&f->g[i]));
    if (sign_by_coefficients(f, p, false))
        return positive || has_constant_term(f, p);
    return sign_of_polynomial(f, p) && (positive || sign_without_roots(f, p));
}

bool sign_is_meromorphic(const struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], smooth = x != NULL;
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++)
        smooth = smooth && (!used[i] || f->g[i].smooth);
    return smooth;
}

bool sign_is_smooth(struct field *f, const element *x)
{
    return sign_is_meromorphic(f, x) && sign_is_strict(f, fmpz_mpoly_q_denref(x));
}

/* Splits p = a + b r, real, with a positive square root r of u; returns a^2 - b^2 u, or NULL. */
static const element *split_root(const element **a, const element **b, struct field *f,
                                 const fmpz_mpoly_t p)
{
    size_t i = f->n;
    while (--i > 0 && !(f->g[i].power == 2 && f->g[i].positive &&
                        fmpz_mpoly_degree_si(p, (slong)i, f->ring) == 1))
        continue;
    if (i == 0)
        return NULL;
    element *slope = field_new(f);
    fmpz_mpoly_derivative(fmpz_mpoly_q_numref(slope), p, (slong)i, f->ring);
    *b = slope;
    *a = field_sub(f, field_polynomial(f, p), field_mul(f, slope, field_generator(f, i)));
    const element *d = field_reduce(
        f, field_sub(f, field_mul(f, *a, *a), field_mul(f, field_mul(f, *b, *b), f->g[i].of)));
    return d && !field_is_zero(f, d) && normal_is_real(f, *a) && normal_is_real(f, *b) ? d : NULL;
}

/* The sign of a if a^2 > b^2 u, of b if a^2 < b^2 u. */
static int sign_by_root(struct field *f, const fmpz_mpoly_t p)
{
    const element *a, *b, *d = split_root(&a, &b, f, p);
    int sign = d ? sign_of(f, d) : 0;
    return !sign ? 0 : sign_of(f, sign > 0 ? a : b);
}

/* The sign from the factors; a factor of unknown sign may occur in an even power. */
static int sign_by_factors(struct field *f, const fmpz_mpoly_t p)
{
    fmpz_mpoly_factor_t factors;
    int sign = sign_of_polynomial(f, p);
    if (sign || !field_factors(f, p))
        return sign;
    fmpz_mpoly_factor_init(factors, f->ring);
    if (fmpz_mpoly_factor(factors, p, f->ring)) {
        sign = fmpz_sgn(factors->constant);
        for (slong i = 0; i < factors->num && sign; i++) {
            bool even = fmpz_is_even(&factors->exp[i]);
            if (!even || !normal_is_real(f, field_polynomial(f, &factors->poly[i])))
                sign *= sign_of_polynomial(f, &factors->poly[i]);
        }
    }
    fmpz_mpoly_factor_clear(factors, f->ring);
    return sign ? sign : sign_by_root(f, p);
}

int sign_of(struct field *f, const element *x)
{
    if (!x)
        return 0;
    int sign =
        sign_by_factors(f, fmpz_mpoly_q_numref(x)) * sign_by_factors(f, fmpz_mpoly_q_denref(x));
    return sign || !normal_is_real(f, x) ? sign : range_sign(f, x);
}

int sign_strictly(struct field *f, const element *x)
{
    int sign = sign_of(f, x);
    if (!sign || sign_is_strict(f, fmpz_mpoly_q_numref(x)))
        return sign;
    const element *a, *b, *d = split_root(&a, &b, f, fmpz_mpoly_q_numref(x));
    return d && sign_of(f, d) && sign_is_strict(f, fmpz_mpoly_q_numref(d)) ? sign
                                                                           : range_sign(f, x);
}

/* ---- zeros ---- */

static bool depends_on_steps(const struct field *f, const element *x);

static bool has_steps(const struct field *f, size_t i)
{
    const struct generator *g = &f->g[i];
    const struct own_operator *own =
        g->kind == GENERATOR_OWN ? f->lang->ops[g->variable->op].own : NULL;
    bool found = own && own->function && ball_function_has_steps(own->function);
    for (unsigned k = 0; k < LANG_MAX_ARITY && !found; k++)
        found = g->arguments[k] && depends_on_steps(f, g->arguments[k]);
    return found || (g->of && depends_on_steps(f, g->of)) ||
           (g->kind == GENERATOR_EXPONENTIAL &&
            depends_on_steps(f, f->families[g->family].exponent));
}

static bool depends_on_steps(const struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], found = false;
    field_used(f, used, x);
    for (size_t i = 1; i < f->n && !found; i++)
        found = used[i] && has_steps(f, i);
    return found;
}

/* Whether p has a monomial in the generators without steps whose coefficient is a number: what the
 * others are on a piece, they do not cancel it. */
static bool has_lasting_term(const struct field *f, const fmpz_mpoly_t p)
{
    ulong e[FIELD_MAX_GENERATORS], other[FIELD_MAX_GENERATORS];
    bool steps[FIELD_MAX_GENERATORS] = {0}, found = false;
    for (size_t g = 1; g < f->n; g++)
        steps[g] = has_steps(f, g);
    slong n = fmpz_mpoly_length(p, f->ring);
    for (slong i = 0; i < n && !found; i++) {
        found = true;
        fmpz_mpoly_get_term_exp_ui(e, p, i, f->ring);
        for (size_t g = 0; g < f->n; g++)
            found = found && !(steps[g] && e[g]);
        for (slong k = 0; k < n && found; k++) {
            bool same = k != i;
            fmpz_mpoly_get_term_exp_ui(other, p, k, f->ring);
            for (size_t g = 0; g < f->n; g++)
                same = same && (steps[g] || e[g] == other[g]);
            found = !same;
        }
    }
    return found;
}

/* A root of a square, such as |v|, is v on one piece of the domain and -v on another. */
static bool is_root_of_square(const struct field *f, size_t i)
{
    const element *u = f->g[i].power == 2 ? f->g[i].of : NULL;
    return u && fmpz_mpoly_is_square(fmpz_mpoly_q_numref(u), f->ring) &&
           fmpz_mpoly_is_square(fmpz_mpoly_q_denref(u), f->ring);
}

/* Where x is zero on an open set, so is its derivative, which has fewer logarithms. */
static bool derivative_has_sparse_zeros(struct field *f, const element *x)
{
    for (size_t i = 1, n = f->n; i < n; i++) {
        const element *d = f->g[i].kind == GENERATOR_VARIABLE ? normal_derive(f, x, i) : NULL;
        if (d && sign_has_sparse_zeros(f, d))
            return true;
    }
    return false;
}

bool sign_has_sparse_zeros(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS];
    if (!(x = field_reduce(f, x)) || field_is_zero(f, x))
        return false;
    field_used(f, used, x);
    size_t rough = 0, roots = 0; /* with other branches than square roots have */
    for (size_t i = 1; i < f->n; i++) {
        const struct generator *g = &f->g[i];
        if (used[i] && !g->smooth && g->kind >= GENERATOR_LN)
            return derivative_has_sparse_zeros(f, x);
        rough += used[i] && !g->smooth && g->power;
        if (used[i] && !g->smooth && g->power > 2)
            roots += 1 + (fmpz_mpoly_total_degree_si(fmpz_mpoly_q_numref(g->of), f->ring) > 1);
    }
    if (roots && (roots > 1 || rough > 1))
        return false;
    if (depends_on_steps(f, x) && !has_lasting_term(f, fmpz_mpoly_q_numref(x)) &&
        !sign_strictly(f, x))
        return false;
    for (size_t i = f->n; i-- > 1;) {
        field_used(f, used, x);
        if (!used[i] || !is_root_of_square(f, i))
            continue;
        const element *values[FIELD_MAX_GENERATORS];
        for (size_t k = 0; k < f->n; k++)
            values[k] = k == i ? field_neg(f, field_generator(f, k)) : field_generator(f, k);
        x = field_reduce(f, field_mul(f, x, field_substitute(f, x, values))); /* the norm */
        if (!x || field_is_zero(f, x))
            return false;
    }
    return true;
}
