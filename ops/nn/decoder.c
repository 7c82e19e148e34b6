/* The decoder; see decoder.h. */
#include "ops/nn/decoder.h"

#include "ops/nn/linear.h"
#include "ops/nn/part.h"

#include <string.h>

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
        nn_attend_layout(&t->layers[i].self, c, type, n, 0, true, l);
        nn_attend_layout(&t->layers[i].cross, c, type, n, t->keys, true, l);
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
