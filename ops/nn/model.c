/* The table of parameters and their first values; see model.h. */
#include "ops/nn/model.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

struct builder {
    struct nn_model *m;
    struct arena *a;
    const char *prefix;
};

static size_t add(struct builder *b, const char *name, enum nn_init init, uint32_t rows,
                  uint32_t cols)
{
    struct nn_model *m = b->m;
    struct nn_param *p = &m->params[m->n_params++];
    *p = (struct nn_param){
        .name = arena_printf(b->a, "%s%s", b->prefix, name),
        .rank = cols ? 2 : 1,
        .shape = {rows, cols},
        .at = m->total,
        .size = (size_t)rows * (cols ? cols : 1),
        .init = init,
    };
    m->total += (p->size + 15) & ~(size_t)15;
    m->count += p->size;
    return p->at;
}

static void add_layer(struct builder *b, struct nn_layer *l)
{
    const struct nn_config *c = &b->m->config;
    uint32_t d = c->d_model, ff = c->d_ff;
    bool bias = c->attention_bias;
    l->in_weight = add(b, "self_attn.in_proj_weight", NN_INIT_XAVIER, 3 * d, d);
    l->in_bias = bias ? add(b, "self_attn.in_proj_bias", NN_INIT_ZERO, 3 * d, 0) : NN_ABSENT;
    l->out_weight = add(b, "self_attn.out_proj.weight", NN_INIT_XAVIER, d, d);
    l->out_bias = bias ? add(b, "self_attn.out_proj.bias", NN_INIT_ZERO, d, 0) : NN_ABSENT;
    l->linear1_weight = add(b, "linear1.weight", NN_INIT_XAVIER, ff, d);
    l->linear1_bias = add(b, "linear1.bias", NN_INIT_ZERO, ff, 0);
    l->linear2_weight = add(b, "linear2.weight", NN_INIT_XAVIER, d, ff);
    l->linear2_bias = add(b, "linear2.bias", NN_INIT_ZERO, d, 0);
    l->norm1_weight = add(b, "norm1.weight", NN_INIT_ONE, d, 0);
    l->norm1_bias = add(b, "norm1.bias", NN_INIT_ZERO, d, 0);
    l->norm2_weight = add(b, "norm2.weight", NN_INIT_ONE, d, 0);
    l->norm2_bias = add(b, "norm2.bias", NN_INIT_ZERO, d, 0);
}

enum err_code nn_model_new(struct nn_model **out, struct arena *a, const struct nn_config *c,
                           struct err *e)
{
    enum err_code code = nn_config_check(c, e);
    if (code)
        return err_up(e, code);
    struct nn_model *m = arena_new(a, struct nn_model);
    m->config = *c;
    m->params = arena_array(a, struct nn_param, 4 + 12 * (size_t)c->layers);
    m->layers = arena_array(a, struct nn_layer, c->layers);
    struct builder b = {m, a, ""};
    m->embedding = add(&b, "embedding.weight", NN_INIT_XAVIER, c->vocabulary, c->d_model);
    m->positions = c->positions == NN_LEARNED
                       ? add(&b, "positions.weight", NN_INIT_XAVIER, c->max_length, c->d_model)
                       : NN_ABSENT;
    for (uint32_t i = 0; i < c->layers; i++) {
        b.prefix = arena_printf(a, "layers.%u.", i);
        add_layer(&b, &m->layers[i]);
    }
    b.prefix = "";
    m->norm_weight = add(&b, "norm.weight", NN_INIT_ONE, c->d_model, 0);
    m->norm_bias = add(&b, "norm.bias", NN_INIT_ZERO, c->d_model, 0);
    *out = m;
    return OK;
}

static void init_xavier(float *w, const struct nn_param *p, struct rng r)
{
    double bound = sqrt(6.0 / ((double)p->shape[0] + p->shape[1]));
    for (size_t i = 0; i < p->size; i++)
        w[i] = (float)((2 * rng_double(&r) - 1) * bound);
}

void nn_model_init(float *weights, const struct nn_model *m, uint64_t seed)
{
    memset(weights, 0, m->total * sizeof *weights);
    for (size_t i = 0; i < m->n_params; i++) {
        const struct nn_param *p = &m->params[i];
        switch (p->init) {
        case NN_INIT_XAVIER: init_xavier(weights + p->at, p, rng_new(seed, i)); break;
        case NN_INIT_ZERO: break;
        case NN_INIT_ONE:
            for (size_t j = 0; j < p->size; j++)
                weights[p->at + j] = 1;
            break;
        }
    }
}

void nn_sinusoids(float *table, const struct nn_config *c)
{
    for (uint32_t t = 0; t < c->max_length; t++)
        for (uint32_t i = 0; i < c->d_model; i++) {
            double angle = t * pow(10000.0, -(double)(i & ~1u) / c->d_model);
            table[(size_t)t * c->d_model + i] = (float)(i & 1 ? cos(angle) : sin(angle));
        }
}
