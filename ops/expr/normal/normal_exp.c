/* An exponent is a sum of terms q m, q rational, m a monomial over a denominator: e^(q m) is a power
 * of the exponential of m/n, with one n for all q. If m is the logarithm of u, that is a power of u
 * or of a root of it. A logarithm is split at factors that are positive: ln(p u) = ln p + ln u, at
 * even powers of real ones, and, where the conjugate is known, into ln |u| + i arg u. */
#include "ops/expr/normal/normal_exp.h"

#include "ops/expr/normal/normal_sign.h"

#include <flint/fmpz_mpoly_factor.h>
#include <flint/fmpz_vec.h>
#include <flint/ulong_extras.h>
#include <stdlib.h>

enum { MAX_FACTORED = 400, MAX_ROOT = 60, MAX_POWER = 200, MAX_PRIME_BITS = 48 };

static const element *ln_abs(struct field *f, const element *x);

static const element *one(struct field *f)
{
    return field_rational(f, 1, 1);
}

/* |x|^2 */
static const element *square(struct field *f, const element *x)
{
    const element *conjugate = sign_conjugate(f, x);
    return conjugate ? field_mul(f, x, conjugate) : NULL;
}

/* ---- exponentials ---- */

static const element *add_exponential(struct field *f, size_t family, const element *of,
                                      ulong power)
{
    if (power && !of)
        return NULL;
    const element *exponent = f->families[family].exponent;
    bool real = sign_is_real(f, exponent);
    struct generator g = {.kind = GENERATOR_EXPONENTIAL,
                          .of = of,
                          .power = power,
                          .family = family,
                          .real = real,
                          .positive = real,
                          .smooth = sign_is_smooth(f, exponent)};
    return field_generator(f, field_add_generator(f, &g));
}

/* i pi n with an integer n: its exponential is 1 or -1. */
static bool is_half_turn(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], turn = true, integer = false;
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++) {
        turn = turn && (!used[i] || i == 0 || f->g[i].is_pi || f->g[i].integer);
        integer = integer || (used[i] && f->g[i].integer);
        if (f->g[i].is_pi)
            turn = turn && fmpz_mpoly_degree_si(fmpz_mpoly_q_numref(x), (slong)i, f->ring) == 1;
    }
    return turn && integer && used[0] && fmpz_mpoly_is_one(fmpz_mpoly_q_denref(x), f->ring);
}

/* e^exponent, of a family that is begun. */
static const element *first_unit(struct field *f, size_t family, const struct generator *ln)
{
    if (ln && ln->kind == GENERATOR_ARG) /* e^(i arg u) = u/|u| */
        return field_div(f, ln->of, normal_abs(f, ln->of));
    if (ln && ln->kind == GENERATOR_LN_ABS && !sign_of(f, ln->of))
        return add_exponential(f, family, square(f, ln->of), 2);
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

/* The logarithm or argument that a monomial is: x = ln u, or i arg u. */
static const struct generator *as_logarithm(const struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS];
    const struct generator *found = NULL;
    if (!fmpz_mpoly_is_one(fmpz_mpoly_q_denref(x), f->ring))
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

static size_t find_family(struct field *f, const element *exponent)
{
    size_t i = 0;
    while (i < f->n_families && !fmpz_mpoly_q_equal(f->families[i].exponent, exponent, f->ring))
        i++;
    if (i < f->n_families || i == sizeof f->families / sizeof *f->families)
        return i;
    const struct generator *ln = as_logarithm(f, exponent);
    f->families[f->n_families++] = (struct family){exponent, 1, NULL};
    f->families[i].unit = first_unit(f, i, ln);
    return i;
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
        const struct generator *ln = as_logarithm(f, m);
        if (ln && ln->kind == GENERATOR_LN) /* of unknown sign */
            g->real = g->positive = positive;
        g->smooth = smooth && (g->smooth || positive);
        f->families[i].unit = root;
        f->families[i].n *= k;
    }
    return field_power(f, f->families[i].unit, p * (f->families[i].n / q));
}

/* The function of Calcium's at a constant. */
static const element *of_constant(struct field *f, const element *x,
                                  void (*function)(ca_t, const ca_t, ca_ctx_t))
{
    ca_t v;
    ca_init(v, f->numbers);
    field_value(v, f, x);
    function(v, v, f->numbers);
    const element *out = field_constant(f, v);
    ca_clear(v, f->numbers);
    return out;
}

/* The term as p/q times a monomial over a primitive denominator; false: p or q is too large. */
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

/* ln |n| by its prime factors, where it is small. */
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
        element *p = field_new(f);
        fmpz_t prime;
        fmpz_init(prime);
        fmpz_abs(prime, factors->p + i);
        fmpz_mpoly_q_set_fmpz(p, prime, f->ring);
        fmpz_clear(prime);
        sum = field_add(f, sum,
                        field_mul(f, field_rational(f, (slong)factors->exp[i], 1),
                                  of_constant(f, p, ca_log)));
    }
    fmpz_factor_clear(factors);
    return sum;
}

/* The logarithm of a generator that is an exponential of something real. */
static const element *ln_generator(struct field *f, const element *x)
{
    for (size_t i = 1; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_EXPONENTIAL && f->g[i].positive &&
            fmpz_mpoly_q_equal(x, field_generator(f, i), f->ring)) {
            const struct family *y = &f->families[f->g[i].family];
            /* The generator was made when the family had another n: its power tells it. */
            slong n = y->n;
            for (size_t k = f->n - 1; k > i; k--)
                if (f->g[k].kind == GENERATOR_EXPONENTIAL && f->g[k].family == f->g[i].family)
                    n /= (slong)f->g[k].power;
            return field_div(f, y->exponent, field_rational(f, n, 1));
        }
    return NULL;
}

static const element *logarithm(struct field *f, enum generator_kind kind, const element *x)
{
    for (size_t i = 1; i < f->n; i++)
        if (f->g[i].kind == kind &&
            (field_equal(f, f->g[i].of, x) ||
             (kind == GENERATOR_LN_ABS && field_equal(f, square(f, f->g[i].of), square(f, x)))))
            return field_generator(f, i);
    struct generator g = {.kind = kind, .of = x, .real = kind != GENERATOR_LN};
    g.smooth = kind == GENERATOR_LN_ABS && sign_is_smooth(f, x) &&
               sign_is_strict(f, fmpz_mpoly_q_numref(x));
    return field_generator(f, field_add_generator(f, &g));
}

/* ln |p|; the sign of p, if it is known. */
static const element *ln_abs_factor(struct field *f, const element *p, int sign)
{
    if (sign < 0)
        p = field_sub(f, field_rational(f, 0, 1), p);
    if (field_is_constant(f, p)) {
        if (!sign) {
            ca_t v;
            ca_init(v, f->numbers);
            field_value(v, f, p);
            ca_abs(v, v, f->numbers);
            p = field_constant(f, v);
            ca_clear(v, f->numbers);
        }
        return p ? of_constant(f, p, ca_log) : NULL;
    }
    const element *known = ln_generator(f, p);
    if (field_equal(f, square(f, p), one(f)))
        return field_rational(f, 0, 1);
    return known ? known : logarithm(f, GENERATOR_LN_ABS, p);
}

/* What taking the logarithm of a factored element has found. */
struct split {
    const element *sum;  /* of the logarithms that are known to add up */
    const element *rest; /* the factors whose logarithm does not, and the sign */
};

static void split_factor(struct split *s, struct field *f, const element *p, slong n, bool absolute)
{
    int sign = sign_of(f, p);
    bool real = sign || sign_is_real(f, p);
    slong even = sign || absolute ? n : real ? n - n % 2 : 0;
    if (even)
        s->sum = field_add(
            f, s->sum, field_mul(f, field_rational(f, even, 1), ln_abs_factor(f, p, sign)));
    if (sign < 0 && n % 2)
        s->rest = field_sub(f, field_rational(f, 0, 1), s->rest);
    if (n != even)
        s->rest = field_mul(f, s->rest, field_power(f, p, n - even));
}

static void split_polynomial(struct split *s, struct field *f, const fmpz_mpoly_t p, slong times,
                             bool absolute)
{
    fmpz_mpoly_factor_t factors;
    fmpz_mpoly_factor_init(factors, f->ring);
    if (fmpz_mpoly_length(p, f->ring) <= MAX_FACTORED && fmpz_mpoly_factor(factors, p, f->ring)) {
        s->sum = field_add(f, s->sum,
                           field_mul(f, field_rational(f, times, 1),
                                     ln_integer(f, factors->constant)));
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

/* With each generator that has a root as a power of that: x + 2 sqrt(x) + 1 is (sqrt(x) + 1)^2. */
static const element *by_roots(struct field *f, const element *x)
{
    const element *values[FIELD_MAX_GENERATORS];
    bool any = false, used[FIELD_MAX_GENERATORS];
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++)
        values[i] = field_generator(f, i);
    for (size_t r = f->n; r-- > 1;) /* a root of a root comes last */
        for (size_t i = 1; i < r && used[r] && f->g[r].power; i++)
            if (fmpz_mpoly_q_equal(f->g[r].of, field_generator(f, i), f->ring)) {
                values[i] = field_power(f, values[r], (slong)f->g[r].power);
                any = any || used[i];
                used[i] = true;
            }
    return any ? field_substitute(f, x, values) : x;
}

static bool split(struct split *s, struct field *f, const element *x, bool absolute)
{
    *s = (struct split){field_rational(f, 0, 1), one(f)};
    if (!(x = field_reduce(f, x)) || field_is_zero(f, x) || !(x = by_roots(f, x)))
        return false;
    split_polynomial(s, f, fmpz_mpoly_q_numref(x), 1, absolute);
    if (s->rest && s->sum)
        split_polynomial(s, f, fmpz_mpoly_q_denref(x), -1, absolute);
    return s->rest && s->sum;
}

/* ln |x| of a real x. */
static const element *ln_abs(struct field *f, const element *x)
{
    struct split s;
    return split(&s, f, x, true) ? s.sum : NULL;
}

static const element *half(struct field *f, const element *x)
{
    return field_mul(f, x, field_rational(f, 1, 2));
}

/* x, or its conjugate, is a positive multiple of one whose argument is known. */
static const element *find_arg(struct field *f, const element *x, const element *conjugate)
{
    for (size_t i = 1; i < f->n; i++) {
        if (f->g[i].kind != GENERATOR_ARG)
            continue;
        const element *ratio = field_reduce(f, field_mul(f, x, sign_conjugate(f, f->g[i].of)));
        const element *other = field_reduce(f, field_mul(f, conjugate, sign_conjugate(f, f->g[i].of)));
        if (ratio && sign_is_real(f, ratio) && sign_of(f, ratio) > 0)
            return field_generator(f, i);
        if (other && sign_is_real(f, other) && sign_of(f, other) > 0)
            return field_sub(f, field_rational(f, 0, 1), field_generator(f, i));
    }
    const element *arg = logarithm(f, GENERATOR_ARG, x);
    const element *twice = field_reduce(f, field_add(f, x, conjugate));
    if (arg && f->g[f->n - 1].of == x) /* it never comes near its cut */
        f->g[f->n - 1].smooth = twice && sign_of(f, twice) > 0 && sign_is_smooth(f, x) &&
                                sign_is_strict(f, fmpz_mpoly_q_numref(twice));
    return arg;
}

static const element *ln_of_rest(struct field *f, const element *x)
{
    const element *conjugate = sign_conjugate(f, x);
    if (!conjugate || field_equal(f, x, conjugate) || !sign_is_meromorphic(f, x))
        return logarithm(f, GENERATOR_LN, x);
    const element *size = field_reduce(f, field_mul(f, x, conjugate));
    return field_add(f, half(f, ln_abs(f, size)),
                     field_mul(f, field_generator(f, 0), find_arg(f, x, conjugate)));
}

const element *normal_ln(struct field *f, const element *x)
{
    struct split s;
    if (!x || !split(&s, f, x, false))
        return NULL;
    if (!field_is_constant(f, s.rest))
        return field_add(f, s.sum, ln_of_rest(f, s.rest));
    return field_add(f, s.sum, of_constant(f, s.rest, ca_log));
}

const element *normal_abs(struct field *f, const element *x)
{
    if (!(x = field_reduce(f, x)) || field_is_zero(f, x))
        return x;
    const element *conjugate = sign_conjugate(f, x);
    if (!conjugate)
        return NULL;
    if (field_equal(f, x, conjugate))
        return normal_exp(f, ln_abs(f, x));
    return normal_exp(f, half(f, ln_abs(f, field_reduce(f, field_mul(f, x, conjugate)))));
}
