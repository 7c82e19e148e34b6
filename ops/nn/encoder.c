/* The encoder; see encoder.h. */
#include "ops/nn/encoder.h"

#include "ops/nn/part.h"

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
