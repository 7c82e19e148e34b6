/* The decoder; see decoder.h. */
#include "ops/nn/decoder.h"

#include "ops/nn/linear.h"
#include "ops/nn/part.h"

static float *floats(struct gpu_layout *l, size_t n)
{
    return gpu_carve(l, n * sizeof(float));
}

void nn_decoder_layout(struct nn_decoder_tape *t, const struct nn_model *m,
                       const struct nn_sequences *targets, const struct nn_tape *in,
                       struct gpu_layout *l, struct arena *a)
{
    const struct nn_config *c = &m->config;
    size_t n = targets->offset[targets->n], d = c->d_model;
    *t = (struct nn_decoder_tape){.tokens = n,
                                  .sequences = targets->n,
                                  .keys = in->memory_rows,
                                  .key_offset = in->memory_offset,
                                  .memory = in->memory};
    t->token = gpu_carve(l, n * sizeof(uint32_t));
    t->offset = gpu_carve(l, (targets->n + 1) * sizeof(uint32_t));
    t->label = gpu_carve(l, n * sizeof(uint32_t));
    t->layers = arena_array(a, struct nn_layer_tape, c->decoder_layers);
    for (uint32_t i = 0; i < c->decoder_layers; i++) {
        nn_attend_layout(&t->layers[i].self, c, n, 0, true, l);
        nn_attend_layout(&t->layers[i].cross, c, n, t->keys, true, l);
        nn_feed_layout(&t->layers[i].feed, c, n, true, l);
    }
    t->final.x = floats(l, n * d);
    t->final.mean = floats(l, n);
    t->final.rstd = floats(l, n);
    t->final.out = floats(l, n * d);
    t->logits = floats(l, n * c->vocabulary);
    t->loss = floats(l, n);
    t->correct = floats(l, n);
}

void nn_decoder_load(struct gpu_queue *q, struct nn_decoder_tape *t,
                     const struct nn_sequences *targets, const uint32_t *label)
{
    gpu_write(q, t->token, targets->tokens, t->tokens * sizeof(uint32_t));
    gpu_write(q, t->offset, targets->offset, (t->sequences + 1) * sizeof(uint32_t));
    gpu_write(q, t->label, label, t->tokens * sizeof(uint32_t));
}

static struct nn_attend self_of(const struct nn_model *m, const struct nn_decoder_tape *t, size_t i)
{
    const struct nn_layer *l = &m->decoder[i];
    return (struct nn_attend){.at = l->self,
                              .norm_weight = l->norm1_weight,
                              .norm_bias = l->norm1_bias,
                              .layer = i,
                              .sequences = t->sequences,
                              .offset = t->offset,
                              .key_first = t->offset,
                              .key_end = t->offset + 1,
                              .causal = true};
}

static struct nn_attend cross_of(const struct nn_model *m, const struct nn_decoder_tape *t,
                                 size_t i)
{
    const struct nn_layer *l = &m->decoder[i];
    return (struct nn_attend){.at = l->cross,
                              .norm_weight = l->norm2_weight,
                              .norm_bias = l->norm2_bias,
                              .layer = i,
                              .sequences = t->sequences,
                              .offset = t->offset,
                              .key_first = t->key_offset,
                              .key_end = t->key_offset + 1,
                              .memory = t->memory,
                              .keys = t->keys};
}

static struct nn_feed feed_of(const struct nn_model *m, size_t i)
{
    const struct nn_layer *l = &m->decoder[i];
    return (struct nn_feed){l, l->norm3_weight, l->norm3_bias, i};
}

void nn_decoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_decoder_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    size_t n = m->config.decoder_layers, v = m->config.vocabulary;
    nn_embed(&p, t->layers[0].self.x, t->token, t->offset, t->sequences);
    for (size_t i = 0; i < n; i++) {
        struct nn_layer_tape *l = &t->layers[i];
        struct nn_attend self = self_of(m, t, i), cross = cross_of(m, t, i);
        struct nn_feed feed = feed_of(m, i);
        nn_attend(&p, l->cross.x, &l->self, &self);
        nn_attend(&p, l->feed.x, &l->cross, &cross);
        nn_feed(&p, i + 1 < n ? t->layers[i + 1].self.x : t->final.x, &l->feed, &feed);
    }
    nn_final(&p, &t->final, m->decoder_norm_weight, m->decoder_norm_bias);
    linear(q, t->logits, t->final.out, nn_weight(&p, m->output_weight), p.tokens, p.d, v,
           (struct linear_end){.bias = nn_weight(&p, m->output_bias)}, p.precision);
}

void nn_decoder_backward(struct gpu_queue *q, const struct nn_gradients *grad,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_decoder_tape *t, const struct nn_scratch *s,
                         const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    size_t v = m->config.vocabulary;
    p.grad = *grad;
    p.op->fill(q, s->dmemory, t->keys * p.d, 0);
    bool written = grad->fresh && m->output_weight != m->embedding;
    linear_back_weight(q, nn_gradient(&p, m->output_weight), !written,
                       nn_gradient(&p, m->output_bias), t->logits, t->final.out, p.tokens, p.d, v,
                       p.precision);
    linear_back_input(q, s->dn, t->logits, nn_weight(&p, m->output_weight), p.tokens, p.d, v,
                      (struct linear_back_end){0}, p.precision);
    nn_final_back(&p, s->dn, &t->final, m->decoder_norm_weight, m->decoder_norm_bias);
    for (size_t i = m->config.decoder_layers; i-- > 0;) {
        const struct nn_layer_tape *l = &t->layers[i];
        struct nn_attend self = self_of(m, t, i), cross = cross_of(m, t, i);
        struct nn_feed feed = feed_of(m, i);
        nn_feed_back(&p, &l->feed, &feed);
        nn_attend_back(&p, s->dmemory, &l->cross, &cross);
        nn_attend_back(&p, NULL, &l->self, &self);
    }
    nn_embed_back(&p, s->dx, t->token, t->offset, t->sequences);
}
