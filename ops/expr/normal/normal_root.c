/* See normal_root.h. */
#include "ops/expr/normal/normal_root.h"

const struct generator *root_logarithm(const struct field *f, const element *x)
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
