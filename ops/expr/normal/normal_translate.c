#include "ops/expr/normal/normal_translate.h"

#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_exp.h"
#include "ops/expr/normal/normal_function.h"
#include "ops/expr/normal/normal_sign.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <flint/fmpz_mpoly_factor.h>
#include <string.h>

enum { MAX_INTEGER_POWER = 60 };

static const element *integer(struct field *f, slong n)
{
    return field_rational(f, n, 1);
}

/* ---- leaves ---- */

static struct ball_domain domain_of(const struct field *f, const struct expr_node *x)
{
    for (size_t i = 0; i < f->n_domains; i++) {
        const char *name = f->domains[i].name;
        bool pattern = *name == '?';
        if (pattern == (x->op == X_VAR) && strcmp(name + pattern, x->leaf) == 0)
            return f->domains[i];
    }
    return (struct ball_domain){x->leaf, x->op == X_VAR ? "complex" : "positive", NULL, NULL};
}

static const element *variable(struct field *f, const struct expr_node *x)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_VARIABLE && f->g[i].variable->op == x->op &&
            strcmp(f->g[i].variable->leaf, x->leaf) == 0)
            return field_generator(f, i);
    struct ball_domain d = domain_of(f, x);
    const char *domain = d.domain;
    bool is_complex = strcmp(domain, "complex") == 0 || strcmp(domain, "nonzero") == 0;
    struct generator g = {.kind = GENERATOR_VARIABLE,
                          .variable = x,
                          .real = !is_complex,
                          .low = d.low,
                          .high = d.high,
                          .integer = strcmp(domain, "integer") == 0,
                          .smooth = true};
    g.positive = strcmp(domain, "positive") == 0 || strcmp(domain, "nonnegative") == 0;
    return field_generator(f, field_add_generator(f, &g));
}

/* ---- functions by exponentials and logarithms ---- */

static const element *times_i(struct field *f, const element *x)
{
    return field_mul(f, field_generator(f, 0), x);
}

/* sin, ..., coth from e^(i x) or e^x. */
static const element *circular(struct field *f, uint16_t op, const element *x)
{
    struct lang_quotient q = lang_circular(op);
    const element *i = op < X_SINH ? field_generator(f, 0) : integer(f, 1);
    const element *e = normal_exp(f, field_mul(f, i, x)), *inverse = field_power(f, e, -1);
    const element *twice[] = {[LANG_ONE] = integer(f, 2),
                              [LANG_SINE] = field_div(f, field_sub(f, e, inverse), i),
                              [LANG_COSINE] = field_add(f, e, inverse)};
    return field_div(f, twice[q.top], twice[q.bottom]);
}

static const element *root(struct field *f, const element *x)
{
    if (!x || field_is_zero(f, x))
        return x;
    return normal_exp(f, field_mul(f, normal_ln(f, x), field_rational(f, 1, 2)));
}

static const element *add_integer(struct field *f, const element *x, slong n)
{
    return field_add(f, x, integer(f, n));
}

/* ln(z + sqrt(z^2 + 1)) */
static const element *area_sine(struct field *f, const element *z)
{
    return normal_ln(f, field_add(f, z, root(f, add_integer(f, field_mul(f, z, z), 1))));
}

/* (ln(1 + z) - ln(1 - z))/2 */
static const element *area_tangent(struct field *f, const element *z)
{
    const element *d = field_sub(f, normal_ln(f, add_integer(f, z, 1)),
                                 normal_ln(f, field_sub(f, integer(f, 1), z)));
    return field_mul(f, d, field_rational(f, 1, 2));
}

static const element *inverse(struct field *f, uint16_t op, const element *z)
{
    const element *minus_i = field_neg(f, field_generator(f, 0));
    switch ((enum expr_op)op) {
    case X_ASIN: return field_mul(f, minus_i, area_sine(f, times_i(f, z)));
    case X_ACOS:
        return field_sub(f, field_mul(f, field_named(f, 'p'), field_rational(f, 1, 2)),
                         inverse(f, X_ASIN, z));
    case X_ATAN: return field_mul(f, minus_i, area_tangent(f, times_i(f, z)));
    case X_ASINH: return area_sine(f, z);
    case X_ACOSH:
        return normal_ln(f, field_add(f, z,
                                      field_mul(f, root(f, add_integer(f, z, -1)),
                                                root(f, add_integer(f, z, 1)))));
    case X_ATANH: return area_tangent(f, z);
    default: return inverse(f, lang_of_reciprocal(op), field_power(f, z, -1));
    }
}

/* ---- powers ---- */

/* x, if a quotient by it or its logarithm has values almost everywhere; else NULL. */
static const element *divisor(struct field *f, const element *x)
{
    return sign_has_sparse_zeros(f, x) ? x : NULL;
}

static bool as_integer(slong *n, const struct field *f, const element *x)
{
    fmpq_t q;
    fmpq_init(q);
    bool small = field_get_rational(q, f, x) && fmpz_is_one(fmpq_denref(q)) &&
                 fmpz_cmpabs(fmpq_numref(q), (fmpz[]){MAX_INTEGER_POWER}) <= 0;
    *n = small ? fmpz_get_si(fmpq_numref(q)) : 0;
    fmpq_clear(q);
    return small;
}

/* p^y for an integer element y and p a number, an exponential, or any element with a logarithm on
 * some branch. */
static const element *factor_power(struct field *f, const element *p, const element *y)
{
    for (size_t i = 1; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_EXPONENTIAL &&
            fmpz_mpoly_q_equal(p, field_generator(f, i), f->ring))
            return normal_exp(f, field_mul(f, y,
                                           field_div(f, f->families[f->g[i].family].exponent,
                                                     integer(f, field_root_of(f, i)))));
    return normal_exp(f, field_mul(f, y, normal_ln(f, p)));
}

static const element *polynomial_power(struct field *f, const fmpz_mpoly_t p, const element *y)
{
    fmpz_mpoly_factor_t factors;
    const element *product = NULL;
    fmpz_mpoly_factor_init(factors, f->ring);
    if (field_factors(f, p) && fmpz_mpoly_factor(factors, p, f->ring)) {
        product = factor_power(f, field_integer(f, factors->constant), y);
        for (slong i = 0; i < factors->num && product; i++)
            product =
                fmpz_fits_si(&factors->exp[i])
                    ? field_mul(
                          f, product,
                          field_power(f, factor_power(f, field_polynomial(f, &factors->poly[i]), y),
                                      fmpz_get_si(&factors->exp[i])))
                    : NULL;
    }
    fmpz_mpoly_factor_clear(factors, f->ring);
    return product;
}

/* x^y for an integer element y, as a product over the factors of x. */
static const element *integer_power(struct field *f, const element *x, const element *y)
{
    if (!(x = field_reduce(f, x)) || field_is_zero(f, x))
        return NULL;
    return field_div(f, polynomial_power(f, fmpz_mpoly_q_numref(x), y),
                     polynomial_power(f, fmpz_mpoly_q_denref(x), y));
}

static const element *power(struct field *f, const struct expr_node *base,
                            const struct expr_node *exponent)
{
    slong n;
    const element *y = normal_translate(f, exponent);
    if (expr_node_is(base, X_SYM, "e"))
        return normal_exp(f, y);
    const element *x = normal_translate(f, base);
    if (as_integer(&n, f, y))
        return field_power(f, n > 0 ? x : divisor(f, x), n);
    if (x && field_is_zero(f, x)) /* 0^y */
        return y && sign_of(f, y) > 0 ? x : NULL;
    if (x && y && normal_is_integer(f, y))
        return integer_power(f, x, y);
    return normal_exp(f, field_mul(f, y, normal_ln(f, sign_of(f, y) > 0 ? x : divisor(f, x))));
}

/* ---- user-defined operators ---- */

static bool is_same_own(struct field *f, const struct generator *g, const struct expr_node *x,
                        const element *const *arguments)
{
    bool same = g->kind == GENERATOR_OWN && g->variable->op == x->op;
    for (unsigned k = 0; k < x->arity && same; k++)
        same = field_equal(f, g->arguments[k], arguments[k]);
    return same;
}

/* Values that a file of operators states hold if the arguments are real, or have a domain, outside
 * of which the operator is undefined. A closed bound may be attained everywhere, so it implies no
 * strict sign. */
static void suppose_values(struct field *f, struct generator *g, const struct expr_node *x)
{
    const struct own_operator *o = f->lang->ops[x->op].own;
    for (unsigned k = 0; k < x->arity && o; k++)
        if (!o->domain[k].name && !normal_is_real(f, g->arguments[k]))
            return;
    for (unsigned k = 0; o && k < o->n_values; k++) {
        const struct ball_domain *d = &o->values[k];
        if (strcmp(d->domain, "complex") == 0 || strcmp(d->domain, "nonzero") == 0)
            continue;
        g->real = true;
        g->integer |= strcmp(d->domain, "integer") == 0;
        g->positive |=
            strcmp(d->domain, "positive") == 0 && !(d->low_closed && number_sign(d->low) == 0);
        if (d->low && !d->low_closed)
            g->low = d->low;
        if (d->high && !d->high_closed)
            g->high = d->high;
    }
}

/* An application of a user-defined operator as a generator. */
static const element *own(struct field *f, const struct expr_node *x)
{
    struct generator g = {.kind = GENERATOR_OWN, .variable = x};
    const struct expr_node *child = x + 1;
    for (unsigned k = 0; k < x->arity; k++, child += child->size)
        if (!(g.arguments[k] = field_reduce(f, normal_translate(f, child))))
            return NULL;
    for (size_t i = 1, n = f->n; i < n; i++)
        if (is_same_own(f, &f->g[i], x, g.arguments))
            return field_generator(f, i);
    const struct own_operator *o = f->lang->ops[x->op].own;
    const element *known = o && o->function ? normal_function(f, o->function, g.arguments) : NULL;
    if (known)
        return known;
    suppose_values(f, &g, x);
    size_t i = field_add_generator(f, &g);
    return i < FIELD_MAX_GENERATORS ? field_generator(f, i) : NULL;
}

/* Translates the derivatives of the user-defined operators in x. */
static void find_partials(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS];
    field_used(f, used, x);
    for (size_t i = 1, n = f->n; i < n; i++) {
        const struct generator g = f->g[i];
        if (!used[i])
            continue;
        if (g.of)
            find_partials(f, g.of);
        if (g.kind == GENERATOR_EXPONENTIAL)
            find_partials(f, f->families[g.family].exponent);
        if (g.kind != GENERATOR_OWN || g.partial[0] || g.partial[1])
            continue;
        struct expr arguments[LANG_MAX_ARITY] = {{0}}, term;
        const struct expr_node *child = g.variable + 1;
        for (unsigned k = 0; k < g.variable->arity; k++, child += child->size) {
            arguments[k] = (struct expr){f->lang, child, child->size};
            find_partials(f, g.arguments[k]);
        }
        const struct own_operator *o = f->lang->ops[g.variable->op].own;
        for (unsigned k = 0; k < g.variable->arity; k++)
            if (o && o->function && ball_function_has_steps(o->function))
                f->g[i].partial[k] = integer(f, 0);
            else if (own_derivative(&term, &f->arena, f->lang, g.variable->op, k, arguments))
                f->g[i].partial[k] = normal_translate(f, term.nodes);
    }
}

/* ---- derivatives ---- */

static const element *derivative(struct field *f, const struct expr_node *by,
                                 const struct expr_node *x)
{
    if ((by->op != X_SYM && by->op != X_VAR) || !variable(f, by))
        return NULL;
    size_t i = 0;
    while (f->g[i].kind != GENERATOR_VARIABLE || f->g[i].variable->op != by->op ||
           strcmp(f->g[i].variable->leaf, by->leaf) != 0)
        i++;
    const element *of = field_reduce(f, normal_translate(f, x));
    if (of)
        find_partials(f, of);
    return normal_derive(f, of, i);
}

/* ---- terms ---- */

static const element *apply(struct field *f, uint16_t op, const element *x, const element *y)
{
    switch ((enum expr_op)op) {
    case X_ADD: return field_add(f, x, y);
    case X_SUB: return field_sub(f, x, y);
    case X_MUL: return field_mul(f, x, y);
    case X_DIV: return field_div(f, x, divisor(f, y));
    case X_SQRT: return root(f, x);
    case X_ABS: return x ? normal_abs(f, x) : NULL;
    case X_LN: return normal_ln(f, divisor(f, x));
    default:
        return lang_is_circular(op)            ? circular(f, op, x)
               : op >= X_ASIN && op <= X_ACOTH ? inverse(f, op, x)
                                               : NULL;
    }
}

const element *normal_translate(struct field *f, const struct expr_node *x)
{
    if (x->op == X_NUM)
        return field_number(f, x->leaf);
    if (x->op <= X_VAR)
        return x->op == X_SYM && lang_is_constant(x->leaf) ? field_named(f, x->leaf[0])
                                                           : variable(f, x);
    const struct expr_node *first = x + 1, *second = expr_node_second(x);
    if (x->op == X_POW)
        return power(f, first, second);
    if (x->op == X_D)
        return derivative(f, first, second);
    if (x->op >= X_DECLARED)
        return own(f, x);
    const element *left = normal_translate(f, first);
    return left ? apply(f, x->op, left, x->arity == 2 ? normal_translate(f, second) : NULL) : NULL;
}
