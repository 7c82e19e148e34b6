/* Arithmetic, relations, constants; see normal_field.h. A term is zero if its numerator is, after
 * relations have been applied to the powers of generators, from the last to the first. What remains
 * is a sum of different monomials whose coefficients are numbers; Calcium decides whether those are
 * zero. */
#include "ops/expr/normal/normal_field.h"

#include <stdlib.h>

struct field *field_open(const struct language *lang, const struct ball_domain *domains, size_t n,
                         size_t work)
{
    struct field *f = must_calloc(1, sizeof *f);
    f->lang = lang;
    f->domains = domains;
    f->n_domains = n;
    f->work = work;
    fmpz_mpoly_ctx_init(f->ring, FIELD_MAX_GENERATORS, ORD_LEX);
    ca_ctx_init(f->numbers);
    ca_ctx_set_option(f->numbers, CA_OPT_QQBAR_DEG_LIMIT, 60);
    ca_ctx_set_option(f->numbers, CA_OPT_PREC_LIMIT, 1024);
    struct generator i = {.kind = GENERATOR_I, .power = 2, .smooth = true};
    i.of = field_rational(f, -1, 1);
    field_add_generator(f, &i);
    ca_i(&f->g[0].value, f->numbers);
    return f;
}

void field_close(struct field *f)
{
    for (size_t i = 0; i < f->n; i++)
        ca_clear(&f->g[i].value, f->numbers);
    for (size_t i = 0; i < f->n_elements; i++) {
        fmpz_mpoly_q_clear(f->elements[i], f->ring);
        free(f->elements[i]);
    }
    free(f->elements);
    ca_ctx_clear(f->numbers);
    arena_free(&f->arena);
    fmpz_mpoly_ctx_clear(f->ring);
    free(f);
}

/* ---- elements ---- */

element *field_new(struct field *f)
{
    element *x = must_calloc(1, sizeof *x);
    f->elements = vec_grow(f->elements, &f->cap_elements, f->n_elements + 1, sizeof *f->elements);
    f->elements[f->n_elements++] = x;
    fmpz_mpoly_q_init(x, f->ring);
    return x;
}

const element *field_rational(struct field *f, slong p, ulong q)
{
    element *x = field_new(f);
    fmpq_t v;
    fmpq_init(v);
    fmpq_set_si(v, p, q);
    fmpz_mpoly_q_set_fmpq(x, v, f->ring);
    fmpq_clear(v);
    return x;
}

const element *field_integer(struct field *f, const fmpz_t n)
{
    element *x = field_new(f);
    fmpz_mpoly_q_set_fmpz(x, n, f->ring);
    return x;
}

bool field_get_rational(fmpq_t out, const struct field *f, const element *x)
{
    if (!x || !fmpz_mpoly_q_is_fmpq(x, f->ring))
        return false;
    fmpz_mpoly_get_fmpz(fmpq_numref(out), fmpz_mpoly_q_numref(x), f->ring);
    fmpz_mpoly_get_fmpz(fmpq_denref(out), fmpz_mpoly_q_denref(x), f->ring);
    return true;
}

const element *field_generator(struct field *f, size_t g)
{
    if (g == FIELD_MAX_GENERATORS)
        return NULL;
    element *x = field_new(f);
    fmpz_mpoly_gen(fmpz_mpoly_q_numref(x), (slong)g, f->ring);
    return x;
}

const element *field_polynomial(struct field *f, const fmpz_mpoly_t p)
{
    element *x = field_new(f);
    fmpz_mpoly_set(fmpz_mpoly_q_numref(x), p, f->ring);
    return x;
}

static size_t length(const struct field *f, const element *x)
{
    return (size_t)(fmpz_mpoly_length(fmpz_mpoly_q_numref(x), f->ring) +
                    fmpz_mpoly_length(fmpz_mpoly_q_denref(x), f->ring));
}

static bool spend(struct field *f, size_t work)
{
    bool enough = work <= f->work;
    f->work = enough ? f->work - work : 0;
    return enough;
}

typedef void operation(element *, const element *, const element *, const fmpz_mpoly_ctx_t);

static const element *apply(struct field *f, operation *op, const element *x, const element *y)
{
    if (!x || !y || !spend(f, length(f, x) * length(f, y)))
        return NULL;
    element *z = field_new(f);
    op(z, x, y, f->ring);
    return z;
}

const element *field_add(struct field *f, const element *x, const element *y)
{
    return apply(f, fmpz_mpoly_q_add, x, y);
}

const element *field_sub(struct field *f, const element *x, const element *y)
{
    return apply(f, fmpz_mpoly_q_sub, x, y);
}

const element *field_neg(struct field *f, const element *x)
{
    return field_sub(f, field_rational(f, 0, 1), x);
}

const element *field_mul(struct field *f, const element *x, const element *y)
{
    return apply(f, fmpz_mpoly_q_mul, x, y);
}

const element *field_div(struct field *f, const element *x, const element *y)
{
    return x && y && !field_is_zero(f, y) ? apply(f, fmpz_mpoly_q_div, x, y) : NULL;
}

const element *field_power(struct field *f, const element *x, slong n)
{
    if (n < 0)
        return field_power(f, field_div(f, field_rational(f, 1, 1), x), -n);
    const element *out = field_rational(f, 1, 1);
    for (; n; n >>= 1) {
        if (n & 1)
            out = field_mul(f, out, x);
        if (n > 1)
            x = field_mul(f, x, x);
    }
    return out;
}

void field_used(const struct field *f, bool *used, const element *x)
{
    int flags[FIELD_MAX_GENERATORS];
    if (x)
        fmpz_mpoly_q_used_vars(flags, x, f->ring);
    for (size_t i = 0; i < FIELD_MAX_GENERATORS; i++)
        used[i] = !x || flags[i];
}

/* The value of one monomial. */
static const element *substitute_term(struct field *f, const fmpz_mpoly_t p, slong term,
                                      const element *const *values)
{
    ulong exponents[FIELD_MAX_GENERATORS];
    if (!fmpz_mpoly_term_exp_fits_ui(p, term, f->ring))
        return NULL;
    fmpz_mpoly_get_term_exp_ui(exponents, p, term, f->ring);
    const element *product = field_integer(f, p->coeffs + term);
    for (size_t g = 0; g < f->n && product; g++)
        if (exponents[g])
            product = values[g] && exponents[g] < 1000
                          ? field_mul(f, product, field_power(f, values[g], (slong)exponents[g]))
                          : NULL;
    return product;
}

static const element *substitute(struct field *f, const fmpz_mpoly_t p,
                                 const element *const *values)
{
    const element *sum = field_rational(f, 0, 1);
    for (slong i = 0; i < fmpz_mpoly_length(p, f->ring) && sum; i++)
        sum = field_add(f, sum, substitute_term(f, p, i, values));
    return sum;
}

const element *field_substitute(struct field *f, const element *x, const element *const *values)
{
    return field_div(f, substitute(f, fmpz_mpoly_q_numref(x), values),
                     substitute(f, fmpz_mpoly_q_denref(x), values));
}

/* ---- relations ---- */

/* Multiplies c by p^n; t is scratch. */
static bool multiply_by_power(fmpz_mpoly_t c, fmpz_mpoly_t t, struct field *f, const fmpz_mpoly_t p,
                              slong n)
{
    bool ok = fmpz_mpoly_pow_ui(t, p, (ulong)n, f->ring) &&
              spend(f, (size_t)(fmpz_mpoly_length(t, f->ring) * fmpz_mpoly_length(c, f->ring)));
    if (ok)
        fmpz_mpoly_mul(c, c, t, f->ring);
    return ok;
}

/* Multiplies p by a power of the relation's denominator such that all powers of generator g are
 * below that of its relation. *scale, unless NULL, is multiplied by the same power. */
static bool reduce_by(fmpz_mpoly_t p, fmpz_mpoly_t scale, struct field *f, size_t g)
{
    slong power = (slong)f->g[g].power, most = fmpz_mpoly_degree_si(p, (slong)g, f->ring) / power;
    if (most < 1)
        return true;
    if (most > 1000)
        return false;
    fmpz_mpoly_univar_t u;
    fmpz_mpoly_t c, t;
    bool ok = true;
    fmpz_mpoly_univar_init(u, f->ring);
    fmpz_mpoly_init(c, f->ring);
    fmpz_mpoly_init(t, f->ring);
    fmpz_mpoly_to_univar(u, p, (slong)g, f->ring);
    fmpz_mpoly_zero(p, f->ring);
    const element *of = f->g[g].of;
    for (slong i = 0; i < fmpz_mpoly_univar_length(u, f->ring) && ok; i++) {
        slong e = fmpz_mpoly_univar_get_term_exp_si(u, i, f->ring), k = e / power;
        fmpz_mpoly_univar_get_term_coeff(c, u, i, f->ring);
        ok = multiply_by_power(c, t, f, fmpz_mpoly_q_numref(of), k) &&
             multiply_by_power(c, t, f, fmpz_mpoly_q_denref(of), most - k);
        fmpz_mpoly_gen(t, (slong)g, f->ring);
        fmpz_mpoly_pow_ui(t, t, (ulong)(e % power), f->ring);
        fmpz_mpoly_mul(c, c, t, f->ring);
        fmpz_mpoly_add(p, p, c, f->ring);
    }
    if (scale && ok) {
        ok = fmpz_mpoly_pow_ui(t, fmpz_mpoly_q_denref(of), (ulong)most, f->ring);
        fmpz_mpoly_mul(scale, scale, t, f->ring);
    }
    fmpz_mpoly_univar_clear(u, f->ring);
    fmpz_mpoly_clear(c, f->ring);
    fmpz_mpoly_clear(t, f->ring);
    return ok;
}

static bool reduce(fmpz_mpoly_t p, fmpz_mpoly_t scale, struct field *f)
{
    bool ok = true;
    for (size_t g = f->n; g-- > 0 && ok;)
        ok = !f->g[g].power || reduce_by(p, scale, f, g);
    return ok;
}

/* Reduces both parts of a quotient. */
static bool reduce_both(fmpz_mpoly_t p, fmpz_mpoly_t q, struct field *f)
{
    fmpz_mpoly_t above, below; /* factors by which the parts are multiplied */
    fmpz_mpoly_init(above, f->ring);
    fmpz_mpoly_init(below, f->ring);
    fmpz_mpoly_one(above, f->ring);
    fmpz_mpoly_one(below, f->ring);
    bool ok = reduce(p, above, f) && reduce(q, below, f) && !fmpz_mpoly_is_zero(q, f->ring);
    if (ok) {
        fmpz_mpoly_mul(p, p, below, f->ring);
        fmpz_mpoly_mul(q, q, above, f->ring);
    }
    fmpz_mpoly_clear(above, f->ring);
    fmpz_mpoly_clear(below, f->ring);
    return ok;
}

/* Multiplies both by a - b I, where q = a + b I: q becomes free of I, so that factors cancel. */
static bool make_real(fmpz_mpoly_t p, fmpz_mpoly_t q, struct field *f)
{
    if (fmpz_mpoly_degree_si(q, 0, f->ring) != 1)
        return true;
    fmpz_mpoly_t b, other;
    fmpz_mpoly_init(b, f->ring);
    fmpz_mpoly_init(other, f->ring);
    fmpz_mpoly_derivative(b, q, 0, f->ring);
    fmpz_mpoly_gen(other, 0, f->ring);
    fmpz_mpoly_mul(other, other, b, f->ring);
    fmpz_mpoly_scalar_mul_si(other, other, -2, f->ring);
    fmpz_mpoly_add(other, q, other, f->ring);
    size_t terms = (size_t)(fmpz_mpoly_length(p, f->ring) + fmpz_mpoly_length(q, f->ring));
    bool ok = spend(f, terms * (size_t)fmpz_mpoly_length(other, f->ring));
    if (ok) {
        fmpz_mpoly_mul(p, p, other, f->ring);
        fmpz_mpoly_mul(q, q, other, f->ring);
    }
    fmpz_mpoly_clear(b, f->ring);
    fmpz_mpoly_clear(other, f->ring);
    return ok && reduce_both(p, q, f);
}

const element *field_reduce(struct field *f, const element *x)
{
    if (!x)
        return NULL;
    element *out = field_new(f);
    fmpz_mpoly_q_set(out, x, f->ring);
    fmpz_mpoly_struct *p = fmpz_mpoly_q_numref(out), *q = fmpz_mpoly_q_denref(out);
    if (!reduce_both(p, q, f) || !make_real(p, q, f))
        return NULL;
    fmpz_mpoly_q_canonicalise(out, f->ring);
    return out;
}

/* ---- constants ---- */

static bool is_number(const struct generator *g)
{
    return g->kind == GENERATOR_CONSTANT || g->kind == GENERATOR_I;
}

bool field_factors(const struct field *f, const fmpz_mpoly_t p)
{
    enum { MAX_TERMS = 400, MAX_DEGREE = 200, MAX_DEGREE_OF_SEVERAL = 100, MAX_BITS = 4000 };
    slong bits = fmpz_mpoly_max_bits(p), used[FIELD_MAX_GENERATORS], several = 0;
    if (fmpz_mpoly_length(p, f->ring) > MAX_TERMS || bits > MAX_BITS || bits < -MAX_BITS ||
        !fmpz_mpoly_total_degree_fits_si(p, f->ring))
        return false;
    fmpz_mpoly_degrees_si(used, p, f->ring);
    for (size_t i = 0; i < FIELD_MAX_GENERATORS; i++)
        several += used[i] > 0;
    return fmpz_mpoly_total_degree_si(p, f->ring) <=
           (several > 1 ? MAX_DEGREE_OF_SEVERAL : MAX_DEGREE);
}

bool field_is_constant(const struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], constant = x != NULL;
    field_used(f, used, x);
    for (size_t i = 0; i < f->n; i++)
        constant = constant && (!used[i] || is_number(&f->g[i]));
    return constant;
}

void field_value(ca_t out, struct field *f, const element *x)
{
    ca_struct values[FIELD_MAX_GENERATORS];
    for (size_t i = 0; i < FIELD_MAX_GENERATORS; i++) {
        ca_init(&values[i], f->numbers);
        if (i < f->n && is_number(&f->g[i]))
            ca_set(&values[i], &f->g[i].value, f->numbers);
    }
    ca_fmpz_mpoly_q_evaluate(out, x, values, f->ring, f->numbers);
    for (size_t i = 0; i < FIELD_MAX_GENERATORS; i++)
        ca_clear(&values[i], f->numbers);
}

/* Moves the terms of p whose variable part is that of its first term into c, without that part. */
static void take_coefficient(fmpz_mpoly_t c, fmpz_mpoly_t p, const struct field *f)
{
    ulong e[FIELD_MAX_GENERATORS], exponents[FIELD_MAX_GENERATORS];
    slong variables[FIELD_MAX_GENERATORS], n = 0;
    fmpz_mpoly_t part;
    fmpz_mpoly_init(part, f->ring);
    fmpz_mpoly_get_term_exp_ui(e, p, 0, f->ring);
    for (size_t g = 0; g < FIELD_MAX_GENERATORS; g++)
        if (g < f->n && is_number(&f->g[g])) {
            e[g] = 0;
        } else {
            variables[n] = (slong)g;
            exponents[n++] = e[g];
        }
    fmpz_mpoly_get_coeff_vars_ui(c, p, variables, exponents, n, f->ring);
    fmpz_mpoly_set_coeff_ui_ui(part, 1, e, f->ring);
    fmpz_mpoly_mul(part, part, c, f->ring);
    fmpz_mpoly_sub(p, p, part, f->ring);
    fmpz_mpoly_clear(part, f->ring);
}

static bool has_constants(const struct field *f, const fmpz_mpoly_t p)
{
    for (size_t g = 0; g < f->n; g++)
        if (f->g[g].kind == GENERATOR_CONSTANT && fmpz_mpoly_degree_si(p, (slong)g, f->ring) > 0)
            return true;
    return false;
}

bool field_is_zero(struct field *f, const element *x)
{
    bool zero = false, exhausted;
    if (!x || fmpz_mpoly_q_is_zero(x, f->ring))
        return x != NULL;
    fmpz_mpoly_t p, c;
    ca_t v;
    fmpz_mpoly_init(p, f->ring);
    fmpz_mpoly_init(c, f->ring);
    ca_init(v, f->numbers);
    fmpz_mpoly_set(p, fmpz_mpoly_q_numref(x), f->ring);
    exhausted = !reduce(p, NULL, f);
    zero = !exhausted && fmpz_mpoly_is_zero(p, f->ring);
    if (!exhausted && !zero && has_constants(f, p) && fmpz_mpoly_length(p, f->ring) < 500)
        for (zero = true; zero && !fmpz_mpoly_is_zero(p, f->ring);) {
            take_coefficient(c, p, f);
            field_value(v, f, field_polynomial(f, c));
            zero = ca_check_is_zero(v, f->numbers) == T_TRUE;
        }
    ca_clear(v, f->numbers);
    fmpz_mpoly_clear(p, f->ring);
    fmpz_mpoly_clear(c, f->ring);
    return zero;
}

bool field_equal(struct field *f, const element *x, const element *y)
{
    return x && y && (fmpz_mpoly_q_equal(x, y, f->ring) || field_is_zero(f, field_sub(f, x, y)));
}

size_t field_add_generator(struct field *f, const struct generator *g)
{
    if (f->n == FIELD_MAX_GENERATORS)
        return FIELD_MAX_GENERATORS;
    f->g[f->n] = *g;
    ca_init(&f->g[f->n].value, f->numbers);
    return f->n++;
}

/* The family may have had another n when the generator was made; the powers of later generators
 * determine it. */
slong field_root_of(const struct field *f, size_t g)
{
    slong n = f->families[f->g[g].family].n;
    for (size_t k = f->n - 1; k > g; k--)
        if (f->g[k].kind == GENERATOR_EXPONENTIAL && f->g[k].family == f->g[g].family)
            n /= (slong)f->g[k].power;
    return n;
}
