/* Products of sparse vectors with tiles; see products.h. */
#include "ops/eval/measure/products.h"

#include "base/isa.h"

#include <string.h>

enum err_code sparse_make(struct sparse *out, struct arena *a, const struct vectors *v,
                          struct err *e)
{
    size_t n = 0;
    out->first = arena_array(a, size_t, v->n + 1);
    for (uint32_t i = 0; i < v->n; i++) {
        for (uint32_t d = 0; d < v->dim; d++)
            n += vectors_at(v, i)[d] != 0;
        out->first[i + 1] = n;
    }
    out->values = arena_try_alloc(a, n + 1, sizeof *out->values);
    if (!out->values)
        return err_fail(e, ERR_NOMEM, "no memory for %zu values of %u vectors", n, v->n);
    n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t d = 0; d < v->dim; d++)
            if (vectors_at(v, i)[d] != 0)
                out->values[n++] = (struct sparse_value){d, vectors_at(v, i)[d]};
    return OK;
}

enum err_code tiles_make(struct tiles *out, struct arena *a, uint32_t n, uint32_t dim,
                         struct err *e)
{
    size_t values = ((size_t)n + TILE - 1) / TILE * TILE * dim;
    *out = (struct tiles){.n = n, .dim = dim, .x = arena_try_alloc(a, values, sizeof(float))};
    if (!out->x)
        return err_fail(e, ERR_NOMEM, "no memory for %u vectors of %u dimensions", n, dim);
    memset(out->x, 0, values * sizeof(float));
    return OK;
}

void tiles_set(struct tiles *t, uint32_t i, const float *x)
{
    float *column = tiles_at(t, i);
    for (uint32_t d = 0; d < t->dim; d++)
        column[(size_t)d * TILE] = x[d];
}

EQL_CLONES static void multiply(float *out, const struct sparse_value *x,
                                const struct sparse_value *end, const float *tile)
{
    vector8 sum[TILE / 8] = {{0}};
    for (; x < end; x++) {
        const vector8 *row = (const vector8 *)(tile + (size_t)x->d * TILE);
        for (int l = 0; l < TILE / 8; l++)
            sum[l] += x->x * row[l];
    }
    memcpy(out, sum, sizeof sum);
}

void products(float *out, const struct sparse *s, size_t i, const struct tiles *t, uint32_t from)
{
    multiply(out, s->values + s->first[i], s->values + s->first[i + 1],
             t->x + (size_t)from * t->dim);
}
