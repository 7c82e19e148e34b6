#include "ops/expr/normal/normal_derive.h"

#include "ops/expr/own/own.h"

#include <string.h>

/* ---- conjugates ---- */

static const element *conjugate_of(struct field *f, size_t i);

const element *normal_conjugate(struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], same = true;
    const element *values[FIELD_MAX_GENERATORS] = {0};
    if (!x)
        return NULL;
    field_used(f, used, x);
    for (size_t i = 0, n = f->n; i < n; i++) {
        if (!used[i])
            continue;
        same = same && f->g[i].real;
        if (!(values[i] = conjugate_of(f, i)))
            return NULL;
    }
    return same ? x : field_substitute(f, x, values);
}

/* The conjugate of a complex variable, which is a generator of its own. */
static const element *partner(struct field *f, size_t i)
{
    if (!f->g[i].partner) {
        struct generator g = {.kind = GENERATOR_CONJUGATE, .partner = i};
        size_t n = field_add_generator(f, &g);
        if (n == FIELD_MAX_GENERATORS)
            return NULL;
        f->g[i].partner = n;
    }
    return field_generator(f, f->g[i].partner);
}

static bool is_conjugate(const struct field *f, const struct generator *g)
{
    const struct own_operator *own =
        g->kind == GENERATOR_OWN ? f->lang->ops[g->variable->op].own : NULL;
    return own && own->function && strcmp(ball_function_name(own->function), "conj") == 0;
}

static const element *conjugate_of(struct field *f, size_t i)
{
    const struct generator *g = &f->g[i];
    const element *x = field_generator(f, i);
    if (g->real)
        return x;
    if (g->kind == GENERATOR_I)
        return field_neg(f, x);
    if (g->kind == GENERATOR_VARIABLE || g->kind == GENERATOR_CONJUGATE)
        return partner(f, i);
    if (is_conjugate(f, g))
        return g->arguments[0];
    if (g->kind != GENERATOR_EXPONENTIAL)
        return NULL;
    const element *exponent = f->families[g->family].exponent;
    const element *conjugate = normal_conjugate(f, exponent);
    return conjugate && field_equal(f, conjugate, field_neg(f, exponent))
               ? field_div(f, field_rational(f, 1, 1), x)
               : NULL;
}

bool normal_is_real(struct field *f, const element *x)
{
    const element *conjugate = normal_conjugate(f, x);
    return conjugate && field_equal(f, x, conjugate);
}

/* ---- derivatives ---- */

static const element *derive_own(struct field *f, const struct generator *g, size_t by)
{
    const element *sum = field_rational(f, 0, 1);
    for (unsigned k = 0; k < LANG_MAX_ARITY && g->arguments[k]; k++) {
        const element *inner = normal_derive(f, g->arguments[k], by);
        if (!inner || !field_is_zero(f, inner))
            sum = field_add(f, sum, field_mul(f, g->partial[k], inner));
    }
    return sum;
}

/* The derivative of a generator with respect to variable number `by`. */
static const element *derive_generator(struct field *f, size_t i, size_t by)
{
    const struct generator g = f->g[i];
    const element *d;
    switch (g.kind) {
    case GENERATOR_I:
    case GENERATOR_CONSTANT: return field_rational(f, 0, 1);
    case GENERATOR_VARIABLE: return field_rational(f, i == by, 1);
    case GENERATOR_CONJUGATE: return NULL;
    case GENERATOR_EXPONENTIAL:
        if (g.power) /* g^k = u, g' = u'/(k u) g */
            return field_mul(f, field_generator(f, i),
                             field_div(f, normal_derive(f, g.of, by),
                                       field_mul(f, field_rational(f, (slong)g.power, 1), g.of)));
        return field_mul(f, field_generator(f, i),
                         normal_derive(f, f->families[g.family].exponent, by));
    case GENERATOR_OWN: return derive_own(f, &g, by);
    case GENERATOR_LN: return field_div(f, normal_derive(f, g.of, by), g.of);
    case GENERATOR_LN_ABS:
    case GENERATOR_ARG: /* from the real and imaginary parts of u'/u */
        d = field_div(f, normal_derive(f, g.of, by), g.of);
        d = g.kind == GENERATOR_ARG ? field_div(f, d, field_generator(f, 0)) : d;
        return field_mul(f, field_add(f, d, normal_conjugate(f, d)), field_rational(f, 1, 2));
    }
    return NULL;
}

static const element *derive_polynomial(struct field *f, const fmpz_mpoly_t p, size_t by)
{
    const element *sum = field_rational(f, 0, 1);
    for (size_t i = 0, n = f->n; i < n && sum; i++) {
        if (fmpz_mpoly_degree_si(p, (slong)i, f->ring) <= 0)
            continue;
        element *partial = field_new(f);
        fmpz_mpoly_derivative(fmpz_mpoly_q_numref(partial), p, (slong)i, f->ring);
        sum = field_add(f, sum, field_mul(f, partial, derive_generator(f, i, by)));
    }
    return sum;
}

/* (p/q)' = (p' - (p/q) q')/q */
const element *normal_derive(struct field *f, const element *x, size_t by)
{
    if (!x)
        return NULL;
    const element *p = derive_polynomial(f, fmpz_mpoly_q_numref(x), by);
    const element *q = derive_polynomial(f, fmpz_mpoly_q_denref(x), by);
    return field_div(f, field_sub(f, p, field_mul(f, x, q)),
                     field_polynomial(f, fmpz_mpoly_q_denref(x)));
}
