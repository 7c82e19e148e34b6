/* The encoder, the decoder, and incremental decoding; see transformer.h. */
#include "ops/nn/transformer/transformer.h"

#include "ops/nn/linear.h"
#include "ops/nn/transformer/part.h"

#include <string.h>

static void share(struct nn_attend *self, const struct nn_weights *w, const struct nn_tape *t,
                  size_t layer)
{
    if (layer > 0)
        return;
    self->shared = w->shared;
    self->row = t->row;
}

void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, bool pool, const struct nn_scratch *s,
                        const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    size_t n = m->config.layers;
    nn_embed(&p, t->layers[0].self.x, t->token, t->offset, t->sequences);
    for (size_t i = 0; i < n; i++) {
        struct nn_attend self = nn_self_attention(&m->layers[i], i, t->sequences, t->offset);
        struct nn_feed feed = nn_feed_of(&m->layers[i], i);
        self.longest = t->longest;
        share(&self, w, t, i);
        nn_attend(&p, t->layers[i].feed.x, &t->layers[i].self, &self);
        nn_feed(&p, i + 1 < n ? t->layers[i + 1].self.x : t->final.x, &t->layers[i].feed, &feed);
    }
    nn_final(&p, &t->final, m->norm);
    if (pool)
        q->op->pool(q, t->pooled, t->arg, t->final.out, t->pool_row, t->pool_offset, t->sequences,
                    p.d, m->config.pooling);
}

void nn_encoder_backward(struct gpu_queue *q, float *grad, const float *dout,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, bool pool, const struct nn_scratch *s,
                         const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    p.grad = grad;
    if (pool) {
        q->op->fill(q, s->dn, t->tokens * p.d, 0);
        q->op->pool_back(q, s->dn, dout, t->arg, t->pool_row, t->pool_offset, t->sequences, p.d,
                         m->config.pooling);
        dout = s->dn;
    }
    nn_final_back(&p, dout, &t->final, m->norm, m->config.layers);
    for (size_t i = m->config.layers; i-- > 0;) {
        struct nn_attend self = nn_self_attention(&m->layers[i], i, t->sequences, t->offset);
        struct nn_feed feed = nn_feed_of(&m->layers[i], i);
        share(&self, w, t, i);
        nn_feed_back(&p, &t->layers[i].feed, &feed);
        nn_attend_back(&p, NULL, &t->layers[i].self, &self);
    }
    if (!w->shared)
        nn_embed_back(&p, s->dx, t->token, t->offset, t->sequences);
}

/* ---- the decoder ---- */

void nn_decoder_layout(struct nn_decoder_tape *t, const struct nn_model *m,
                       const struct nn_sequences *targets, const struct nn_tape *in,
                       enum gpu_type type, struct gpu_layout *in_block, struct gpu_layout *l,
                       struct arena *a)
{
    const struct nn_config *c = &m->config;
    size_t n = targets->offset[targets->n];
    *t = (struct nn_decoder_tape){.tokens = n,
                                  .sequences = targets->n,
                                  .keys = in->memory_rows,
                                  .key_offset = in->memory_offset,
                                  .memory = in->memory};
    t->token = gpu_carve(in_block, n * sizeof(uint32_t));
    t->offset = gpu_carve(in_block, (targets->n + 1) * sizeof(uint32_t));
    t->label = gpu_carve(in_block, n * sizeof(uint32_t));
    t->layers = arena_array(a, struct nn_layer_tape, c->decoder_layers);
    for (uint32_t i = 0; i < c->decoder_layers; i++) {
        nn_attend_layout(&t->layers[i].self, c, type, n, 0, true, NULL, l);
        nn_attend_layout(&t->layers[i].cross, c, type, n, t->keys, true, NULL, l);
        nn_feed_layout(&t->layers[i].feed, c, type, n, true, l);
    }
    nn_final_layout(&t->final, c, n, l);
    if (type != GPU_TYPE_F32)
        t->rounded = gpu_carve(l, gpu_bytes(type, t->keys * c->d_model));
    t->logits = gpu_carve_floats(l, n * c->vocabulary);
    t->loss = gpu_carve_floats(l, n);
    t->correct = gpu_carve_floats(l, n);
}

void nn_decoder_load(const struct nn_block *in, const struct nn_decoder_tape *t,
                     const struct nn_sequences *targets, const uint32_t *label)
{
    memcpy(nn_host(in, t->token), targets->tokens, t->tokens * sizeof(uint32_t));
    memcpy(nn_host(in, t->offset), targets->offset, (t->sequences + 1) * sizeof(uint32_t));
    memcpy(nn_host(in, t->label), label, t->tokens * sizeof(uint32_t));
}

/* The three parts of layer i. */
struct parts {
    struct nn_attend self, cross;
    struct nn_feed feed;
};

static struct parts parts_of(const struct nn_model *m, const struct nn_decoder_tape *t, size_t i)
{
    const struct nn_layer *l = &m->decoder[i];
    struct parts p = {nn_self_attention(l, i, t->sequences, t->offset),
                      nn_cross_attention(l, i, t->sequences, t->offset,
                                         t->rounded ? (const void *)t->rounded : t->memory,
                                         t->keys),
                      nn_feed_of(l, i)};
    p.self.causal = true;
    p.cross.key_first = t->key_offset;
    p.cross.key_end = t->key_offset + 1;
    return p;
}

void nn_decoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_decoder_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    size_t n = m->config.decoder_layers, v = m->config.vocabulary;
    if (t->rounded)
        q->op->round_bf16(q, t->rounded, t->memory, t->keys, p.d, p.d);
    nn_embed(&p, t->layers[0].self.x, t->token, t->offset, t->sequences);
    for (size_t i = 0; i < n; i++) {
        struct nn_layer_tape *l = &t->layers[i];
        struct parts part = parts_of(m, t, i);
        nn_attend(&p, l->cross.x, &l->self, &part.self);
        nn_attend(&p, l->feed.x, &l->cross, &part.cross);
        nn_feed(&p, i + 1 < n ? t->layers[i + 1].self.x : t->final.x, &l->feed, &part.feed);
    }
    nn_final(&p, &t->final, m->decoder_norm);
    linear(q, t->logits, t->final.out, nn_weight(&p, m->output_weight), p.tokens, p.d, v,
           (struct linear_end){.bias = nn_weight(&p, m->output_bias)}, p.precision);
}

void nn_decoder_backward(struct gpu_queue *q, float *grad, const struct nn_model *m,
                         const struct nn_weights *w, const struct nn_decoder_tape *t,
                         const struct nn_scratch *s, const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    size_t v = m->config.vocabulary;
    p.grad = grad;
    p.op->fill(q, s->dmemory, t->keys * p.d, 0);
    linear_back_weight(q, nn_gradient(&p, m->output_weight), nn_gradient(&p, m->output_bias),
                       GPU_TYPE_F32, t->logits, t->final.out, p.tokens, p.d, v, p.precision);
    linear_back_input(q, s->dn, t->logits, nn_weight(&p, m->output_weight), p.tokens, p.d, v,
                      (struct linear_back_end){0}, p.precision);
    nn_final_back(&p, s->dn, &t->final, m->decoder_norm, m->config.decoder_layers);
    for (size_t i = m->config.decoder_layers; i-- > 0;) {
        const struct nn_layer_tape *l = &t->layers[i];
        struct parts part = parts_of(m, t, i);
        nn_feed_back(&p, &l->feed, &part.feed);
        nn_attend_back(&p, s->dmemory, &l->cross, &part.cross);
        nn_attend_back(&p, NULL, &l->self, &part.self);
    }
    nn_embed_back(&p, s->dx, t->token, t->offset, t->sequences);
}

/* ---- incremental decoding ---- */

enum { STEP_NUMBERS = 5 }; /* for each row */

static uint32_t *numbers(struct gpu_layout *l, size_t n)
{
    return gpu_carve(l, n * sizeof(uint32_t));
}

static void **by_layer(const struct nn_model *m, size_t bytes, struct gpu_layout *l,
                       struct arena *a)
{
    void **out = arena_array(a, void *, m->config.decoder_layers);
    for (uint32_t i = 0; i < m->config.decoder_layers; i++)
        out[i] = gpu_carve(l, bytes);
    return out;
}

void nn_decoding_layout(struct nn_decoding *t, const struct nn_model *m, enum gpu_type type,
                        size_t rows, size_t length, size_t keys, struct gpu_layout *l,
                        struct arena *a)
{
    const struct nn_config *c = &m->config;
    size_t d = c->d_model;
    *t = (struct nn_decoding){.rows = rows, .length = length, .keys = keys};
    t->cache = by_layer(m, gpu_bytes(type, rows * length * 2 * d), l, a);
    t->spare = by_layer(m, gpu_bytes(type, rows * length * 2 * d), l, a);
    t->cross = by_layer(m, gpu_bytes(type, keys * 2 * d), l, a);
    t->rounded = type == GPU_TYPE_F32 ? NULL : gpu_carve(l, gpu_bytes(type, keys * d));
    t->step = numbers(l, STEP_NUMBERS * rows);
    t->offset = numbers(l, rows + 1);
    t->self_first = numbers(l, rows);
    nn_attend_layout(&t->self, c, type, rows, 0, false, NULL, l);
    nn_attend_layout(&t->other, c, type, rows, 1, false, NULL, l); /* its kv is in `cross` */
    nn_feed_layout(&t->feed, c, type, rows, false, l);
    t->final.x = t->self.x;
    t->final.mean = t->self.mean;
    t->final.rstd = t->self.rstd;
    t->final.out = t->self.n;
    t->logits = gpu_carve_floats(l, rows * c->vocabulary);
}

void nn_decoding_begin(struct gpu_queue *q, struct nn_decoding *t, const struct nn_model *m,
                       const struct nn_weights *w, const float *states, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct nn_pass p = nn_pass_of(q, m, w, t->keys, NULL, NULL);
    uint32_t *offset = arena_array(a, uint32_t, t->rows + 1);
    uint32_t *first = arena_array(a, uint32_t, t->rows);
    for (size_t i = 0; i < t->rows; i++) {
        offset[i + 1] = (uint32_t)i + 1;
        first[i] = (uint32_t)(i * t->length);
    }
    gpu_write(q, t->offset, offset, (t->rows + 1) * sizeof *offset);
    gpu_write(q, t->self_first, first, t->rows * sizeof *first);
    if (t->rounded)
        q->op->round_bf16(q, t->rounded, states, t->keys, p.d, p.d);
    for (uint32_t i = 0; i < m->config.decoder_layers; i++)
        nn_project_memory(&p, t->cross[i], t->rounded ? (const void *)t->rounded : states, t->keys,
                          &m->decoder[i].cross);
    t->states = states;
    t->at = 0;
    arena_release(a, mark);
}

/* The inputs of a step are stored together, by row, and copied at once. */
static void load(struct gpu_queue *q, struct nn_decoding *t, const struct nn_decoding_step *s,
                 struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    uint32_t **to[STEP_NUMBERS] = {&t->token, &t->self_end, &t->cross_first, &t->cross_end,
                                   &t->parent};
    uint32_t *all = arena_array(a, uint32_t, STEP_NUMBERS * s->n), *end = all + s->n;
    for (size_t i = 0; i < s->n; i++)
        end[i] = (uint32_t)(i * t->length + t->at + 1);
    const uint32_t *from[STEP_NUMBERS] = {s->token, end, s->states_first, s->states_end, s->parent};
    for (size_t i = 0; i < STEP_NUMBERS; i++) {
        *to[i] = t->step + i * s->n;
        if (from[i] != end)
            memcpy(all + i * s->n, from[i], s->n * sizeof *all);
    }
    gpu_write(q, t->step, all, STEP_NUMBERS * s->n * sizeof *all);
    arena_release(a, mark);
}

/* Gives each row the cache of its parent. */
static void move(const struct nn_pass *p, struct nn_decoding *t, const struct nn_decoding_step *s)
{
    size_t each = nn_floats(p, 2 * p->d), row = t->length * each, used = t->at * each;
    bool still = true;
    for (size_t i = 0; i < s->n; i++)
        still &= s->parent[i] == i;
    if (still)
        return;
    for (uint32_t i = 0; i < p->m->config.decoder_layers; i++)
        p->op->copy_rows(p->q, t->spare[i], row, t->cache[i], row, t->parent, s->n, used);
    void **old = t->cache;
    t->cache = t->spare;
    t->spare = old;
}

static void layer(struct nn_pass *p, struct nn_decoding *t, size_t i)
{
    const struct nn_layer *l = &p->m->decoder[i];
    struct nn_cache cache = {t->cache[i], t->length, t->at};
    struct nn_attend self = nn_self_attention(l, i, p->tokens, t->offset);
    self.key_first = t->self_first;
    self.key_end = t->self_end;
    self.cache = &cache;
    struct nn_attend cross = nn_cross_attention(l, i, p->tokens, t->offset, t->states, t->keys);
    cross.key_first = t->cross_first;
    cross.key_end = t->cross_end;
    cross.projected = true;
    struct nn_feed feed = nn_feed_of(l, i);
    struct nn_attend_tape other = t->other;
    other.kv = t->cross[i];
    nn_attend(p, t->other.x, &t->self, &self);
    nn_attend(p, t->feed.x, &other, &cross);
    nn_feed(p, t->self.x, &t->feed, &feed);
}

void nn_decoding_next(struct gpu_queue *q, struct nn_decoding *t, const struct nn_model *m,
                      const struct nn_weights *w, const struct nn_decoding_step *s, struct arena *a)
{
    struct nn_pass p = nn_pass_of(q, m, w, s->n, NULL, NULL);
    size_t v = m->config.vocabulary;
    load(q, t, s, a);
    if (t->at)
        move(&p, t, s);
    p.positions += t->at * p.d; /* each row is a sequence of one token, at this position */
    nn_embed(&p, t->self.x, t->token, t->offset, s->n);
    for (size_t i = 0; i < m->config.decoder_layers; i++)
        layer(&p, t, i);
    nn_final(&p, &t->final, m->decoder_norm);
    linear(q, t->logits, t->final.out, nn_weight(&p, m->output_weight), s->n, p.d, v,
           (struct linear_end){.bias = nn_weight(&p, m->output_bias)}, p.precision);
    t->at++;
}
