#include "ops/nn/parameters.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

static size_t add(struct nn_table *t, struct nn_param p)
{
    p.at = t->total;
    p.size = 1;
    for (uint32_t i = 0; i < p.rank; i++)
        p.size *= p.shape[i];
    t->params[t->n++] = p;
    t->total += (p.size + 15) & ~(size_t)15;
    t->count += p.size;
    return p.at;
}

size_t nn_table_add(struct nn_table *t, const char *name, enum nn_init init, uint32_t rows,
                    uint32_t cols)
{
    return add(t, (struct nn_param){
                      .name = name, .rank = cols ? 2 : 1, .shape = {rows, cols}, .init = init});
}

size_t nn_table_add_shape(struct nn_table *t, const char *name, uint32_t rank,
                          const uint32_t shape[NN_RANK], uint32_t fan)
{
    struct nn_param p = {.name = name, .rank = rank, .init = NN_INIT_FAN, .fan = fan};
    memcpy(p.shape, shape, rank * sizeof *shape);
    return add(t, p);
}

static void init_uniform(float *w, size_t n, double bound, struct rng r)
{
    for (size_t i = 0; i < n; i++)
        w[i] = (float)((2 * rng_double(&r) - 1) * bound);
}

void nn_table_init(float *flat, const struct nn_table *t, uint64_t seed)
{
    memset(flat, 0, t->total * sizeof *flat);
    for (size_t i = 0; i < t->n; i++) {
        const struct nn_param *p = &t->params[i];
        switch (p->init) {
        case NN_INIT_XAVIER:
            init_uniform(flat + p->at, p->size, sqrt(6.0 / ((double)p->shape[0] + p->shape[1])),
                         rng_new(seed, i));
            break;
        case NN_INIT_FAN:
            init_uniform(flat + p->at, p->size, 1 / sqrt((double)p->fan), rng_new(seed, i));
            break;
        case NN_INIT_UNIT: init_uniform(flat + p->at, p->size, sqrt(3.0), rng_new(seed, i)); break;
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

void nn_sinusoids(float *table, uint32_t rows, uint32_t d)
{
    for (uint32_t t = 0; t < rows; t++)
        for (uint32_t i = 0; i < d; i++) {
            double angle = t * pow(10000.0, -(double)(i & ~1u) / d);
            table[(size_t)t * d + i] = (float)(i & 1 ? cos(angle) : sin(angle));
        }
}
