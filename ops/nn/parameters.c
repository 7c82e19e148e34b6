/* See parameters.h. */
#include "ops/nn/parameters.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

size_t nn_table_add(struct nn_table *t, const char *name, enum nn_init init, uint32_t rows,
                    uint32_t cols)
{
    struct nn_param *p = &t->params[t->n++];
    *p = (struct nn_param){
        .name = name,
        .rank = cols ? 2 : 1,
        .shape = {rows, cols},
        .at = t->total,
        .size = (size_t)rows * (cols ? cols : 1),
        .init = init,
    };
    t->total += (p->size + 15) & ~(size_t)15;
    t->count += p->size;
    return p->at;
}

static void init_xavier(float *w, const struct nn_param *p, struct rng r)
{
    double bound = sqrt(6.0 / ((double)p->shape[0] + p->shape[1]));
    for (size_t i = 0; i < p->size; i++)
        w[i] = (float)((2 * rng_double(&r) - 1) * bound);
}

void nn_table_init(float *flat, const struct nn_table *t, uint64_t seed)
{
    memset(flat, 0, t->total * sizeof *flat);
    for (size_t i = 0; i < t->n; i++) {
        const struct nn_param *p = &t->params[i];
        switch (p->init) {
        case NN_INIT_XAVIER: init_xavier(flat + p->at, p, rng_new(seed, i)); break;
        case NN_INIT_ZERO: break;
        case NN_INIT_ONE:
            for (size_t j = 0; j < p->size; j++)
                flat[p->at + j] = 1;
            break;
        }
    }
}

const struct nn_param *nn_table_not_finite(const struct nn_table *t, const float *flat)
{
    for (size_t i = 0; i < t->n; i++)
        for (size_t j = 0; j < t->params[i].size; j++)
            if (!isfinite(flat[t->params[i].at + j]))
                return &t->params[i];
    return NULL;
}
