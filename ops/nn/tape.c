/* Memory of an encoder's pass, and what it pools; see encoder.h. */
#include "ops/nn/encoder.h"

enum err_code nn_sequences_check(const struct nn_sequences *s, const struct nn_config *c,
                                 struct err *e)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->offset[i + 1] <= s->offset[i])
            return err_fail(e, ERR_INPUT, "sequence %zu has no token", i);
        uint32_t n = s->offset[i + 1] - s->offset[i];
        if (n > c->max_length)
            return err_fail(e, ERR_LIMIT, "sequence %zu has %u tokens, more than max_length %u", i,
                            n, c->max_length);
    }
    for (size_t i = 0; i < s->offset[s->n]; i++)
        if (s->tokens[i] >= c->vocabulary)
            return err_fail(e, ERR_INPUT, "token %u is not in the vocabulary of %u", s->tokens[i],
                            c->vocabulary);
    return OK;
}

static float *floats(struct gpu_layout *l, size_t n)
{
    return gpu_carve(l, n * sizeof(float));
}

static void layer_layout(struct nn_layer_tape *t, const struct nn_config *c, size_t n,
                         struct gpu_layout *l)
{
    size_t d = c->d_model;
    t->x = floats(l, n * d);
    t->mean1 = floats(l, n);
    t->rstd1 = floats(l, n);
    t->n1 = floats(l, n * d);
    t->qkv = floats(l, n * 3 * d);
    t->lse = floats(l, n * c->heads);
    t->att = floats(l, n * d);
    t->mid = floats(l, n * d);
    t->mean2 = floats(l, n);
    t->rstd2 = floats(l, n);
    t->n2 = floats(l, n * d);
    t->h = floats(l, n * c->d_ff);
    t->act = c->activation == GPU_RELU ? t->h : floats(l, n * c->d_ff);
}

/* The rows that sequence i pools: its first token that is not special, or all such; of a sequence
 * of special tokens only, these. Returns how many; rows may be NULL. */
static size_t pooled_rows(uint32_t *rows, const struct nn_sequences *s, size_t i, bool first)
{
    size_t n = 0;
    for (int special = 0; special < 2 && n == 0; special++)
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1] && !(first && n); t++)
            if (special || s->tokens[t] >= NN_SPECIAL_TOKENS) {
                if (rows)
                    rows[n] = t;
                n++;
            }
    return n;
}

void nn_tape_layout(struct nn_tape *t, const struct nn_model *m, const struct nn_sequences *s,
                    bool training, struct gpu_layout *l, struct arena *a)
{
    const struct nn_config *c = &m->config;
    size_t n = s->offset[s->n], d = c->d_model;
    *t = (struct nn_tape){.tokens = n, .sequences = s->n};
    for (size_t i = 0; i < s->n; i++)
        t->pooled_rows += pooled_rows(NULL, s, i, c->pooling == NN_POOL_FIRST);
    t->token = gpu_carve(l, n * sizeof(uint32_t));
    t->offset = gpu_carve(l, (s->n + 1) * sizeof(uint32_t));
    t->pool_row = gpu_carve(l, t->pooled_rows * sizeof(uint32_t));
    t->pool_offset = gpu_carve(l, (s->n + 1) * sizeof(uint32_t));
    t->layers = arena_array(a, struct nn_layer_tape, c->layers);
    for (uint32_t i = 0; i < c->layers; i++) {
        if (training || i == 0)
            layer_layout(&t->layers[i], c, n, l);
        else
            t->layers[i] = t->layers[0];
    }
    t->last = training ? floats(l, n * d) : t->layers[0].x;
    t->mean = floats(l, n);
    t->rstd = floats(l, n);
    t->out = training ? floats(l, n * d) : t->layers[0].n1;
    t->arg = c->pooling == NN_POOL_MAX ? gpu_carve(l, s->n * d * sizeof(uint32_t)) : NULL;
    t->pooled = floats(l, s->n * d);
}

void nn_scratch_layout(struct nn_scratch *s, const struct nn_model *m, size_t tokens, bool training,
                       struct gpu_layout *l)
{
    *s = (struct nn_scratch){0};
    if (!training)
        return;
    size_t d = m->config.d_model, wide = m->config.d_ff > 3 * d ? m->config.d_ff : 3 * d;
    s->dx = floats(l, tokens * d);
    s->dn = floats(l, tokens * d);
    s->wide = floats(l, tokens * wide);
    s->branch = floats(l, tokens * d);
}

void nn_tape_load(struct gpu_queue *q, struct nn_tape *t, const struct nn_model *m,
                  const struct nn_sequences *s, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    uint32_t *row = arena_array(a, uint32_t, t->pooled_rows);
    uint32_t *offset = arena_array(a, uint32_t, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        offset[i + 1] = offset[i] + (uint32_t)pooled_rows(row + offset[i], s, i,
                                                          m->config.pooling == NN_POOL_FIRST);
    gpu_write(q, t->token, s->tokens, t->tokens * sizeof(uint32_t));
    gpu_write(q, t->offset, s->offset, (s->n + 1) * sizeof(uint32_t));
    gpu_write(q, t->pool_row, row, t->pooled_rows * sizeof(uint32_t));
    gpu_write(q, t->pool_offset, offset, (s->n + 1) * sizeof(uint32_t));
    arena_release(a, mark);
}
