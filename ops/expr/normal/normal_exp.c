/* An exponent is a sum of terms q m, with q rational and m a monomial over a denominator: e^(q m)
 * is a power of the exponential of m/n, with one n for all q. If m is the logarithm of u, that is a
 * power of u or of a root of it. A logarithm is split at positive factors, ln(p u) = ln p + ln u,
 * at even powers of real factors, and, if the conjugate is known, into ln |u| + i arg u. */
#include "ops/expr/normal/normal_exp.h"

#include "ops/expr/normal/normal_arg.h"
#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_root.h"
#include "ops/expr/normal/normal_sign.h"

#include <flint/fmpz_mpoly_factor.h>
#include <flint/fmpz_vec.h>
#include <flint/ulong_extras.h>
#include <stdlib.h>

enum { MAX_ROOT = 60, MAX_POWER = 200, MAX_PRIME_BITS = 48 };

static const element *ln_abs(struct field *f, const element *x);

static const element *one(struct field *f)
{
    return field_rational(f, 1, 1);
}

/* ---- exponentials ---- */

static const element *add_exponential(struct field *f, size_t family, const element *of,
                                      ulong power)
{
    if (power && !of)
        return NULL;
    const element *exponent = f->families[family].exponent;
    bool real = normal_is_real(f, exponent);
    struct generator g = {.kind = GENERATOR_EXPONENTIAL,
                          .of = of,
                          .power = power,
                          .family = family,
                          .real = real,
                          .positive = real,
                          .smooth = sign_is_smooth(f, exponent)};
    int sign = real && !power ? sign_strictly(f, exponent) : 0;
    g.low = sign > 0 ? "1" : NULL;
    g.high = sign < 0 ? "1" : NULL;
    return field_generator(f, field_add_generator(f, &g));
}

/* Whether x is i pi n with an integer n: its exponential is 1 or -1. */
static bool is_half_turn(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], turn = true, integer = false, pi = false;
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++) {
        turn = turn && (!used[i] || i == 0 || f->g[i].is_pi || f->g[i].integer);
        integer = integer || (used[i] && f->g[i].integer);
        pi = pi || (f->g[i].is_pi &&
                    fmpz_mpoly_degree_si(fmpz_mpoly_q_numref(x), (slong)i, f->ring) == 1);
    }
    return turn && integer && pi && used[0] && fmpz_mpoly_is_one(fmpz_mpoly_q_denref(x), f->ring);
}

/* e^exponent, for a new family. */
static const element *first_unit(struct field *f, size_t family, const struct generator *ln)
{
    if (ln && ln->kind == GENERATOR_ARG) /* e^(i arg u) = u/|u| */
        return field_div(f, ln->of, normal_abs(f, ln->of));
    if (ln && ln->kind == GENERATOR_LN_ABS && !sign_of(f, ln->of))
        return add_exponential(f, family, normal_square(f, ln->of), 2);
    if (ln)
        return ln->of;
    if (is_half_turn(f, f->families[family].exponent)) {
        const element *unit = add_exponential(f, family, one(f), 2);
        if (unit)
            f->g[f->n - 1].real = true;
        return unit;
    }
    return add_exponential(f, family, NULL, 0);
}

static size_t find_family(struct field *f, const element *exponent)
{
    size_t i = 0;
    while (i < f->n_families && !fmpz_mpoly_q_equal(f->families[i].exponent, exponent, f->ring))
        i++;
    if (i < f->n_families || i == sizeof f->families / sizeof *f->families)
        return i;
    const struct generator *ln = root_logarithm(f, exponent);
    f->families[f->n_families++] = (struct family){exponent, 1, NULL};
    f->families[i].unit = first_unit(f, i, ln);
    return i;
}

/* (slope x + rest)^(1/power) if it is rational, else NULL. */
static const char *root_at(struct field *f, const element *slope, const char *x,
                           const element *rest, ulong power)
{
    const element *y = x ? field_add(f, field_mul(f, slope, field_number(f, x)), rest) : NULL;
    fmpq_t q;
    fmpq_init(q);
    char *text = NULL;
    if (field_get_rational(q, f, y) && fmpq_sgn(q) >= 0 &&
        fmpz_root(fmpq_numref(q), fmpq_numref(q), (slong)power) &&
        fmpz_root(fmpq_denref(q), fmpq_denref(q), (slong)power)) {
        size_t size = fmpz_sizeinbase(fmpq_numref(q), 10) + fmpz_sizeinbase(fmpq_denref(q), 10) + 3;
        text = arena_alloc(&f->arena, size);
        fmpq_get_str(text, 10, q);
    }
    fmpq_clear(q);
    return text;
}

/* Sets the bounds of root(a x + b) from the bounds of x, if they are rational. */
static void set_interval(struct field *f, struct generator *root)
{
    const fmpz_mpoly_struct *p = fmpz_mpoly_q_numref(root->of);
    for (size_t i = 1; i < f->n && root->positive; i++) {
        const struct generator *x = &f->g[i];
        if (fmpz_mpoly_degree_si(p, (slong)i, f->ring) != 1)
            continue;
        const element *slope = normal_derive(f, root->of, i);
        const element *rest = field_sub(f, root->of, field_mul(f, slope, field_generator(f, i)));
        const char *low = x->low ? x->low : x->positive ? "0" : NULL;
        bool up = slope && sign_of(f, slope) > 0;
        if (!up && !(slope && sign_of(f, slope) < 0))
            return;
        root->low = root_at(f, slope, up ? low : x->high, rest, root->power);
        root->high = root_at(f, slope, up ? x->high : low, rest, root->power);
        return;
    }
}

/* e^(p/q m) */
static const element *exponential(struct field *f, const element *m, slong p, slong q)
{
    size_t i = find_family(f, m);
    if (i == sizeof f->families / sizeof *f->families || !f->families[i].unit)
        return NULL;
    slong k = q / (slong)n_gcd((ulong)q, (ulong)f->families[i].n);
    if (q > MAX_ROOT || k * f->families[i].n > MAX_ROOT || labs(p) > MAX_POWER)
        return NULL;
    if (k > 1) {
        const element *of = f->families[i].unit;
        bool positive = sign_of(f, of) == 1;
        bool smooth = sign_is_smooth(f, of) && sign_is_strict(f, fmpz_mpoly_q_numref(of));
        const element *root = add_exponential(f, i, of, (ulong)k);
        if (!root)
            return NULL;
        struct generator *g = &f->g[f->n - 1];
        const struct generator *ln = root_logarithm(f, m);
        if (ln && ln->kind == GENERATOR_LN) /* if the sign is unknown */
            g->real = g->positive = positive;
        g->smooth = smooth && (g->smooth || positive);
        struct generator copy = *g;
        set_interval(f, &copy);
        f->g[f->n - 1].low = copy.low;
        f->g[f->n - 1].high = copy.high;
        f->families[i].unit = root;
        f->families[i].n *= k;
    }
    return field_power(f, f->families[i].unit, p * (f->families[i].n / q));
}

/* Applies a function of Calcium to a constant. */
static const element *of_constant(struct field *f, const element *x,
                                  void (*function)(ca_t, const ca_t, ca_ctx_t))
{
    if (!x)
        return NULL;
    ca_t v;
    ca_init(v, f->numbers);
    field_value(v, f, x);
    function(v, v, f->numbers);
    const element *out = field_constant(f, v);
    ca_clear(v, f->numbers);
    return out;
}

/* Splits a term into p/q times a monomial over a primitive denominator; returns false if p or q is
 * too large. */
static bool split_term(element *m, slong *p, slong *q, struct field *f, const element *x,
                       slong term)
{
    fmpz_t c, d, g;
    fmpz_init(c);
    fmpz_init(d);
    fmpz_init(g);
    fmpz_mpoly_t t;
    fmpz_mpoly_init(t, f->ring);
    fmpz_mpoly_get_term_coeff_fmpz(c, fmpz_mpoly_q_numref(x), term, f->ring);
    fmpz_mpoly_get_term_monomial(t, fmpz_mpoly_q_numref(x), term, f->ring);
    fmpz_mpoly_set(fmpz_mpoly_q_numref(m), t, f->ring);
    _fmpz_vec_content(d, fmpz_mpoly_q_denref(x)->coeffs, fmpz_mpoly_q_denref(x)->length);
    fmpz_mpoly_scalar_divexact_fmpz(fmpz_mpoly_q_denref(m), fmpz_mpoly_q_denref(x), d, f->ring);
    fmpz_gcd(g, c, d);
    fmpz_divexact(c, c, g);
    fmpz_divexact(d, d, g);
    bool fits = fmpz_fits_si(c) && fmpz_fits_si(d);
    *p = fits ? fmpz_get_si(c) : 0;
    *q = fits ? fmpz_get_si(d) : 0;
    if (*q < 0) {
        *p = -*p;
        *q = -*q;
    }
    fmpz_mpoly_q_canonicalise(m, f->ring);
    fmpz_mpoly_clear(t, f->ring);
    fmpz_clear(c);
    fmpz_clear(d);
    fmpz_clear(g);
    return fits;
}

const element *normal_exp(struct field *f, const element *x)
{
    if (!(x = field_reduce(f, x)))
        return NULL;
    const element *product = one(f), *constant = field_rational(f, 0, 1);
    for (slong i = 0; i < fmpz_mpoly_length(fmpz_mpoly_q_numref(x), f->ring) && product; i++) {
        element *m = field_new(f);
        slong p, q;
        if (!split_term(m, &p, &q, f, x, i))
            return NULL;
        if (field_is_constant(f, m))
            constant = field_add(f, constant, field_mul(f, m, field_rational(f, p, (ulong)q)));
        else
            product = field_mul(f, product, exponential(f, m, p, q));
    }
    if (!constant || field_is_zero(f, constant))
        return constant ? product : NULL;
    return field_mul(f, product, of_constant(f, constant, ca_exp));
}

/* ---- logarithms ---- */

/* ln |n| by prime factors, if n is small. */
static const element *ln_integer(struct field *f, const fmpz_t n)
{
    fmpz_factor_t factors;
    const element *sum = field_rational(f, 0, 1);
    fmpz_factor_init(factors);
    if (fmpz_bits(n) <= MAX_PRIME_BITS)
        fmpz_factor(factors, n);
    else
        _fmpz_factor_append(factors, n, 1);
    for (slong i = 0; i < factors->num; i++) {
        fmpz_abs(factors->p + i, factors->p + i);
        const element *p = field_integer(f, factors->p + i);
        sum = field_add(
            f, sum,
            field_mul(f, field_rational(f, (slong)factors->exp[i], 1), of_constant(f, p, ca_log)));
    }
    fmpz_factor_clear(factors);
    return sum;
}

/* The logarithm of a generator that is the exponential of a real element, or a principal root. */
static const element *ln_generator(struct field *f, const element *x)
{
    for (size_t i = 1; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_EXPONENTIAL &&
            (f->g[i].positive || root_is_principal(f, i)) &&
            fmpz_mpoly_q_equal(x, field_generator(f, i), f->ring)) {
            const struct family *y = &f->families[f->g[i].family];
            return field_div(f, y->exponent, field_rational(f, field_root_of(f, i), 1));
        }
    return NULL;
}

/* ln |p|; the sign of p, if it is known. */
static const element *ln_abs_factor(struct field *f, const element *p, int sign)
{
    if (sign < 0)
        p = field_neg(f, p);
    if (!p)
        return NULL;
    if (field_is_constant(f, p)) {
        if (!sign) {
            ca_t v;
            ca_init(v, f->numbers);
            field_value(v, f, p);
            ca_abs(v, v, f->numbers);
            p = field_constant(f, v);
            ca_clear(v, f->numbers);
        }
        return of_constant(f, p, ca_log);
    }
    const element *known = ln_generator(f, p);
    if (field_equal(f, normal_square(f, p), one(f)))
        return field_rational(f, 0, 1);
    return known ? known : normal_logarithm(f, GENERATOR_LN_ABS, p);
}

/* The result of splitting the logarithm of a factored element. */
struct split {
    const element *sum;  /* sum of the logarithms that are known to add up */
    const element *rest; /* the other factors, and the sign */
};

static void split_factor(struct split *s, struct field *f, const element *p, slong n, bool absolute)
{
    int sign = sign_of(f, p);
    bool real = sign || normal_is_real(f, p);
    slong even = sign || absolute ? n : real ? n - n % 2 : 0;
    if (even)
        s->sum = field_add(f, s->sum,
                           field_mul(f, field_rational(f, even, 1), ln_abs_factor(f, p, sign)));
    if (sign < 0 && n % 2)
        s->rest = field_neg(f, s->rest);
    if (n != even)
        s->rest = field_mul(f, s->rest, field_power(f, p, n - even));
}

static void split_polynomial(struct split *s, struct field *f, const fmpz_mpoly_t p, slong times,
                             bool absolute)
{
    fmpz_mpoly_factor_t factors;
    fmpz_mpoly_factor_init(factors, f->ring);
    if (field_factors(f, p) && fmpz_mpoly_factor(factors, p, f->ring)) {
        s->sum = field_add(
            f, s->sum, field_mul(f, field_rational(f, times, 1), ln_integer(f, factors->constant)));
        s->rest = field_mul(f, s->rest, field_rational(f, fmpz_sgn(factors->constant), 1));
        for (slong i = 0; i < factors->num && s->rest && s->sum; i++) {
            bool fits = fmpz_fits_si(&factors->exp[i]);
            split_factor(s, f, field_polynomial(f, &factors->poly[i]),
                         fits ? times * fmpz_get_si(&factors->exp[i]) : 0, absolute);
        }
    } else {
        s->rest = NULL;
    }
    fmpz_mpoly_factor_clear(factors, f->ring);
}

static bool split(struct split *s, struct field *f, const element *x, bool absolute)
{
    *s = (struct split){field_rational(f, 0, 1), one(f)};
    if (!(x = field_reduce(f, x)) || field_is_zero(f, x) || !(x = square_by_roots(f, x)))
        return false;
    split_polynomial(s, f, fmpz_mpoly_q_numref(x), 1, absolute);
    if (s->rest && s->sum)
        split_polynomial(s, f, fmpz_mpoly_q_denref(x), -1, absolute);
    return s->rest && s->sum;
}

/* Whether a polynomial has a factor that is not real. */
static bool is_mixed(struct field *f, const fmpz_mpoly_t p)
{
    fmpz_mpoly_factor_t factors;
    bool mixed = false;
    fmpz_mpoly_factor_init(factors, f->ring);
    if (field_factors(f, p) && fmpz_mpoly_factor(factors, p, f->ring))
        for (slong i = 0; i < factors->num && !mixed; i++)
            mixed = !normal_is_real(f, field_polynomial(f, &factors->poly[i]));
    fmpz_mpoly_factor_clear(factors, f->ring);
    return mixed;
}

/* ln |x| of a real x: ln of sin x as a whole, if its sign is known, rather than of the factors of
 * e^(2 i x) - 1. */
static const element *ln_abs(struct field *f, const element *x)
{
    struct split s;
    int sign = x && is_mixed(f, fmpz_mpoly_q_numref(x)) ? sign_of(f, x) : 0;
    if (sign)
        return ln_abs_factor(f, x, sign);
    return split(&s, f, x, true) ? s.sum : NULL;
}

static const element *half(struct field *f, const element *x)
{
    return field_mul(f, x, field_rational(f, 1, 2));
}

static const element *ln_of_rest(struct field *f, const element *x)
{
    const element *known = ln_generator(f, x), *partner = known ? NULL : root_area_partner(f, x);
    if (known)
        return known;
    if (partner) /* ln(r - v) = ln c - ln(r + v) */
        return field_sub(f, of_constant(f, field_reduce(f, field_mul(f, partner, x)), ca_log),
                         normal_logarithm(f, GENERATOR_LN, partner));
    const element *conjugate = normal_conjugate(f, x);
    if (!conjugate || field_equal(f, x, conjugate) || !normal_leaves_axis(f, x, conjugate))
        return normal_logarithm(f, GENERATOR_LN, x);
    const element *size = field_reduce(f, field_mul(f, x, conjugate));
    return field_add(f, half(f, ln_abs(f, size)),
                     field_mul(f, field_generator(f, 0), normal_arg(f, x, conjugate)));
}

/* ---- squares ---- */

/* Whether p has positive coefficients, positive generators and at most one principal root per term:
 * then its real part is not negative. */
static bool is_right(struct field *f, const fmpz_mpoly_t p)
{
    ulong e[FIELD_MAX_GENERATORS];
    bool right = true;
    for (slong i = 0; i < fmpz_mpoly_length(p, f->ring) && right; i++) {
        fmpz_mpoly_get_term_exp_ui(e, p, i, f->ring);
        right = fmpz_sgn(p->coeffs + i) > 0;
        unsigned roots = 0;
        for (size_t g = 0; g < f->n && right; g++) {
            const struct generator *x = &f->g[g];
            if (!e[g] || x->positive)
                continue;
            right = e[g] == 1 && roots++ == 0 && root_is_principal(f, g);
        }
    }
    return right;
}

/* ln (c v^2) = ln c + 2 ln |v| if v is real but has factors that are not, and ln c + 2 ln v if its
 * real part is positive. */
static const element *ln_of_square(struct field *f, const element *x)
{
    const element *c, *v, *ln = NULL;
    if (!square_of(&c, &v, f, x))
        return NULL;
    if (normal_is_real(f, v))
        ln = is_mixed(f, fmpz_mpoly_q_numref(v)) ? ln_abs(f, v) : NULL;
    else if (is_right(f, fmpz_mpoly_q_numref(v)) &&
             field_is_constant(f, field_polynomial(f, fmpz_mpoly_q_denref(v))))
        ln = normal_ln(f, v);
    return field_add(f, field_mul(f, field_rational(f, 2, 1), ln),
                     ln ? of_constant(f, c, ca_log) : NULL);
}

const element *normal_ln(struct field *f, const element *x)
{
    struct split s;
    const element *square = square_by_roots(f, field_reduce(f, x));
    if (square && (square = ln_of_square(f, square)))
        return square;
    if (!x || !split(&s, f, x, false))
        return NULL;
    if (!field_is_constant(f, s.rest))
        return field_add(f, s.sum, ln_of_rest(f, s.rest));
    return field_add(f, s.sum, of_constant(f, s.rest, ca_log));
}

/* |e^w| = e^(Re w), where w is a real multiple of a logarithm ln u, whose real part is ln |u|. */
static const element *abs_exponential(struct field *f, const element *x)
{
    for (size_t i = 1, n = f->n; i < n; i++) {
        const element *values[FIELD_MAX_GENERATORS];
        const struct generator *ln = NULL;
        if (f->g[i].kind != GENERATOR_EXPONENTIAL ||
            !fmpz_mpoly_q_equal(x, field_generator(f, i), f->ring))
            continue;
        const element *exponent = f->families[f->g[i].family].exponent;
        bool used[FIELD_MAX_GENERATORS], real = true;
        field_used(f, used, exponent);
        for (size_t k = 0; k < f->n; k++) {
            values[k] = field_generator(f, k);
            bool is_ln = used[k] && f->g[k].kind == GENERATOR_LN && !ln;
            real = real && (!used[k] || f->g[k].real || is_ln);
            if (is_ln)
                ln = &f->g[k];
        }
        if (!real || !ln ||
            fmpz_mpoly_degree_si(fmpz_mpoly_q_numref(exponent), ln - f->g, f->ring) != 1 ||
            fmpz_mpoly_degree_si(fmpz_mpoly_q_denref(exponent), ln - f->g, f->ring) != 0)
            return NULL;
        const element *size = normal_abs(f, ln->of);
        values[ln - f->g] = size ? normal_ln(f, size) : NULL;
        const element *part = values[ln - f->g] ? field_substitute(f, exponent, values) : NULL;
        return normal_exp(f, field_div(f, part, field_rational(f, field_root_of(f, i), 1)));
    }
    return NULL;
}

const element *normal_abs(struct field *f, const element *x)
{
    if (!(x = field_reduce(f, x)) || field_is_zero(f, x))
        return x;
    const element *conjugate = normal_conjugate(f, x);
    if (!conjugate)
        return abs_exponential(f, x);
    if (field_equal(f, x, conjugate))
        return normal_exp(f, ln_abs(f, x));
    return normal_exp(f, half(f, ln_abs(f, field_reduce(f, field_mul(f, x, conjugate)))));
}
