/* Memory of an encoder's pass, and its pooling; see tape.h. */
#include "ops/nn/transformer/tape.h"

#include <string.h>

enum gpu_type nn_stored(const struct gpu_device *d, const struct nn_config *c,
                        enum gpu_precision precision)
{
    return c->d_model % 8 || c->d_ff % 8 ? GPU_TYPE_F32 : gpu_stored(d, precision);
}

static void *carve(struct gpu_layout *l, enum gpu_type type, size_t n)
{
    return gpu_carve(l, gpu_bytes(type, n));
}

/* In inference a norm's output shares its memory with the states, which are f32. */
void nn_attend_layout(struct nn_attend_tape *t, const struct nn_config *c, enum gpu_type type,
                      size_t n, size_t keys, bool training, const struct nn_attend_tape *first,
                      struct gpu_layout *l)
{
    size_t d = c->d_model;
    t->x = first ? first->x : gpu_carve_floats(l, n * d);
    t->mean = gpu_carve_floats(l, n);
    t->rstd = gpu_carve_floats(l, n);
    t->n = training ? NULL : gpu_carve_floats(l, n * d);
    t->q = first ? first->q : carve(l, type, n * (keys ? d : 3 * d));
    t->kv = keys ? carve(l, type, keys * 2 * d) : NULL;
    t->lse = gpu_carve_floats(l, n * c->heads);
    t->out = carve(l, type, n * d);
}

void nn_feed_layout(struct nn_feed_tape *t, const struct nn_config *c, enum gpu_type type, size_t n,
                    bool training, struct gpu_layout *l)
{
    size_t d = c->d_model;
    t->x = gpu_carve_floats(l, n * d);
    t->mean = gpu_carve_floats(l, n);
    t->rstd = gpu_carve_floats(l, n);
    t->n = training ? NULL : gpu_carve_floats(l, n * d);
    t->h = carve(l, type, n * c->d_ff);
    t->act = c->activation == GPU_RELU ? t->h : carve(l, type, n * c->d_ff);
}

void nn_final_layout(struct nn_final_tape *t, const struct nn_config *c, size_t n,
                     struct gpu_layout *l)
{
    t->x = gpu_carve_floats(l, n * c->d_model);
    t->mean = gpu_carve_floats(l, n);
    t->rstd = gpu_carve_floats(l, n);
    t->out = gpu_carve_floats(l, n * c->d_model);
}

/* Writes the rows that sequence i pools: all that are not special, or all if every token is
 * special. Returns their number; rows may be NULL. */
static size_t pooled_rows(uint32_t *rows, const struct nn_sequences *s, size_t i)
{
    size_t n = 0;
    for (int special = 0; special < 2 && n == 0; special++)
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++) {
            if (!special && s->tokens[t] < NN_SPECIAL_TOKENS)
                continue;
            if (rows)
                rows[n] = t;
            n++;
        }
    return n;
}

void nn_tape_layout(struct nn_tape *t, const struct nn_model *m, const struct nn_sequences *s,
                    enum gpu_type type, bool training, const struct nn_attend_tape *first,
                    struct gpu_layout *in, struct gpu_layout *l, struct arena *a)
{
    const struct nn_config *c = &m->config;
    size_t n = s->offset[s->n], d = c->d_model;
    *t = (struct nn_tape){.tokens = n, .sequences = s->n};
    for (size_t i = 0; i < s->n; i++) {
        size_t length = s->offset[i + 1] - s->offset[i];
        t->pooled_rows += pooled_rows(NULL, s, i);
        t->longest = length > t->longest ? length : t->longest;
    }
    t->token = gpu_carve(in, n * sizeof(uint32_t));
    t->offset = gpu_carve(in, (s->n + 1) * sizeof(uint32_t));
    t->pool_row = gpu_carve(in, t->pooled_rows * sizeof(uint32_t));
    t->pool_offset = gpu_carve(in, (s->n + 1) * sizeof(uint32_t));
    t->layers = arena_array(a, struct nn_layer_tape, c->layers);
    for (uint32_t i = 0; i < c->layers; i++) {
        if (training || i == 0) {
            nn_attend_layout(&t->layers[i].self, c, type, n, 0, training, i == 0 ? first : NULL, l);
            nn_feed_layout(&t->layers[i].feed, c, type, n, training, l);
        } else {
            t->layers[i] = t->layers[0];
        }
    }
    if (training)
        nn_final_layout(&t->final, c, n, l);
    else
        t->final = (struct nn_final_tape){t->layers[0].self.x, t->layers[0].self.mean,
                                          t->layers[0].self.rstd, t->layers[0].self.n};
    t->arg = c->pooling == GPU_MAX ? gpu_carve(l, s->n * d * sizeof(uint32_t)) : NULL;
    t->pooled = gpu_carve_floats(l, s->n * d);
    bool vector = c->memory == NN_MEMORY_VECTOR;
    t->memory = vector ? t->pooled : t->final.out;
    t->memory_rows = vector ? s->n : n;
    t->memory_offset = vector ? gpu_carve(in, (s->n + 1) * sizeof(uint32_t)) : t->offset;
}

void nn_scratch_layout(struct nn_scratch *s, const struct nn_model *m, enum gpu_type type,
                       size_t tokens, size_t memory, struct gpu_layout *l)
{
    size_t d = m->config.d_model, wide = m->config.d_ff > 3 * d ? m->config.d_ff : 3 * d;
    s->dx = gpu_carve_floats(l, tokens * d);
    s->dn = gpu_carve_floats(l, tokens * d);
    s->n = carve(l, type, tokens * d);
    s->wide = carve(l, type, tokens * wide);
    s->branch = carve(l, type, tokens * d);
    s->dkv = memory ? carve(l, type, memory * 2 * d) : NULL;
    s->dmemory = memory ? gpu_carve_floats(l, memory * d) : NULL;
}

void nn_tape_load(const struct nn_block *in, const struct nn_tape *t, const struct nn_model *m,
                  const struct nn_sequences *s)
{
    uint32_t *row = nn_host(in, t->pool_row), *offset = nn_host(in, t->pool_offset);
    memcpy(nn_host(in, t->token), s->tokens, t->tokens * sizeof(uint32_t));
    memcpy(nn_host(in, t->offset), s->offset, (s->n + 1) * sizeof(uint32_t));
    offset[0] = 0;
    for (size_t i = 0; i < s->n; i++)
        offset[i + 1] = offset[i] + (uint32_t)pooled_rows(row + offset[i], s, i);
    uint32_t *each = nn_host(in, t->memory_offset);
    for (size_t i = 0; i <= s->n && t->memory_offset != t->offset; i++)
        each[i] = (uint32_t)i; /* one row per sequence */
}
