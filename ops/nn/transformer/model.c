/* The table of parameters; see model.h. */
#include "ops/nn/transformer/model.h"

#include <string.h>

struct builder {
    struct nn_model *m;
    struct arena *a;
    const char *prefix;
};

static size_t add(struct builder *b, const char *name, enum nn_init init, uint32_t rows,
                  uint32_t cols)
{
    return nn_table_add(&b->m->table, arena_printf(b->a, "%s%s", b->prefix, name), init, rows,
                        cols);
}

/* Adds `n` matrices of a layer, stacked in one tensor. */
static size_t add_matrices(struct builder *b, const char *name, uint32_t n, uint32_t rows,
                           uint32_t cols)
{
    size_t at = add(b, name, NN_INIT_XAVIER, rows, cols);
    b->m->table.params[b->m->table.n - 1].stacked = n;
    if (b->m->transposed)
        b->m->table.total += (size_t)cols * NN_TRANSPOSED_GAP;
    return at;
}

static struct nn_projections add_attention(struct builder *b, const char *name)
{
    uint32_t d = b->m->config.d_model;
    bool bias = b->m->config.attention_bias;
    struct builder in = {b->m, b->a, arena_printf(b->a, "%s%s.", b->prefix, name)};
    struct nn_projections p;
    p.in_weight = add_matrices(&in, "in_proj_weight", 3, 3 * d, d);
    p.in_bias = bias ? add(&in, "in_proj_bias", NN_INIT_ZERO, 3 * d, 0) : NN_ABSENT;
    p.out_weight = add_matrices(&in, "out_proj.weight", 1, d, d);
    p.out_bias = bias ? add(&in, "out_proj.bias", NN_INIT_ZERO, d, 0) : NN_ABSENT;
    return p;
}

static struct nn_norm add_norm(struct builder *b, const char *name)
{
    struct builder in = {b->m, b->a, arena_printf(b->a, "%s%s.", b->prefix, name)};
    struct nn_norm n;
    n.weight = add(&in, "weight", NN_INIT_ONE, b->m->config.d_model, 0);
    n.bias = add(&in, "bias", NN_INIT_ZERO, b->m->config.d_model, 0);
    return n;
}

static void add_layer(struct builder *b, struct nn_layer *l, bool decoder)
{
    uint32_t d = b->m->config.d_model, ff = b->m->config.d_ff;
    const struct nn_projections none = {NN_ABSENT, NN_ABSENT, NN_ABSENT, NN_ABSENT};
    l->self = add_attention(b, "self_attn");
    l->cross = decoder ? add_attention(b, "multihead_attn") : none;
    l->linear1_weight = add_matrices(b, "linear1.weight", 1, ff, d);
    l->linear1_bias = add(b, "linear1.bias", NN_INIT_ZERO, ff, 0);
    l->linear2_weight = add_matrices(b, "linear2.weight", 1, d, ff);
    l->linear2_bias = add(b, "linear2.bias", NN_INIT_ZERO, d, 0);
    l->norm1 = add_norm(b, "norm1");
    l->norm2 = add_norm(b, "norm2");
    l->norm3 = decoder ? add_norm(b, "norm3") : (struct nn_norm){NN_ABSENT, NN_ABSENT};
}

static struct nn_layer *add_stack(struct nn_norm *norm, struct builder *b, const char *prefix,
                                  uint32_t n, bool decoder)
{
    struct nn_layer *layers = arena_array(b->a, struct nn_layer, n);
    for (uint32_t i = 0; i < n; i++) {
        b->prefix = arena_printf(b->a, "%slayers.%u.", prefix, i);
        add_layer(b, &layers[i], decoder);
    }
    b->prefix = prefix;
    *norm = add_norm(b, "norm");
    b->prefix = "";
    return layers;
}

static struct nn_model *build(struct arena *a, const struct nn_config *c, bool transposed)
{
    struct nn_model *m = arena_new(a, struct nn_model);
    struct builder b = {m, a, ""};
    m->config = *c;
    m->transposed = transposed;
    m->table.params = arena_array(a, struct nn_param,
                                  8 + 12 * (size_t)c->layers + 18 * (size_t)c->decoder_layers);
    m->embedding = add(&b, "embedding.weight", NN_INIT_XAVIER, c->vocabulary, c->d_model);
    m->positions = c->positions == NN_LEARNED
                       ? add(&b, "positions.weight", NN_INIT_XAVIER, c->max_length, c->d_model)
                       : NN_ABSENT;
    m->layers = add_stack(&m->norm, &b, c->decoder_layers ? "encoder." : "", c->layers, false);
    m->output_weight = m->output_bias = NN_ABSENT;
    m->decoder_norm = (struct nn_norm){NN_ABSENT, NN_ABSENT};
    if (c->decoder_layers) {
        m->decoder = add_stack(&m->decoder_norm, &b, "decoder.", c->decoder_layers, true);
        m->output_weight =
            c->tied_output ? m->embedding
                           : add(&b, "output.weight", NN_INIT_XAVIER, c->vocabulary, c->d_model);
        m->output_bias = add(&b, "output.bias", NN_INIT_ZERO, c->vocabulary, 0);
    }
    return m;
}

enum err_code nn_model_new(struct nn_model **out, struct arena *a, const struct nn_config *c,
                           struct err *e)
{
    enum err_code code = nn_config_check(c, e);
    if (!code)
        *out = build(a, c, false);
    return err_up(e, code);
}

struct nn_model *nn_model_transposed(struct arena *a, const struct nn_config *c)
{
    return build(a, c, true);
}

void nn_transpose(float *to, const struct nn_model *transposed, const float *from,
                  const struct nn_model *m)
{
    for (size_t i = 0; i < m->table.n; i++) {
        const struct nn_param *p = &m->table.params[i];
        size_t rows = p->shape[0], cols = p->shape[1], ld = rows + NN_TRANSPOSED_GAP;
        const float *x = from + p->at;
        float *y = to + transposed->table.params[i].at;
        if (p->rank < 2 || p->at == m->embedding || p->at == m->positions ||
            p->at == m->output_weight)
            memcpy(y, x, p->size * sizeof *y);
        else
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < cols; c++)
                    y[c * ld + r] = x[r * cols + c];
    }
}
