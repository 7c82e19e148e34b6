#include "ops/expr/normal/normal_conjugate.h"

static const element *conjugate_of(struct field *f, size_t i);

static const element *opposite(struct field *f, const element *x)
{
    return field_sub(f, field_rational(f, 0, 1), x);
}

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

/* Of a complex variable: a generator of its own. */
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

static const element *conjugate_of(struct field *f, size_t i)
{
    const struct generator *g = &f->g[i];
    const element *x = field_generator(f, i);
    if (g->real)
        return x;
    if (g->kind == GENERATOR_I)
        return opposite(f, x);
    if (g->kind == GENERATOR_VARIABLE || g->kind == GENERATOR_CONJUGATE)
        return partner(f, i);
    if (g->kind != GENERATOR_EXPONENTIAL)
        return NULL;
    const element *exponent = f->families[g->family].exponent;
    const element *conjugate = normal_conjugate(f, exponent);
    return conjugate && field_equal(f, conjugate, opposite(f, exponent))
               ? field_div(f, field_rational(f, 1, 1), x)
               : NULL;
}

bool normal_is_real(struct field *f, const element *x)
{
    const element *conjugate = normal_conjugate(f, x);
    return conjugate && field_equal(f, x, conjugate);
}
