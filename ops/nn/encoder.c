/* The encoder; see encoder.h. */
#include "ops/nn/encoder.h"

#include "ops/nn/part.h"

void nn_encoder_states(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       struct nn_tape *t, const struct nn_scratch *s, const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    size_t n = m->config.layers;
    nn_embed(&p, t->layers[0].self.x, t->token, t->offset, t->sequences);
    for (size_t i = 0; i < n; i++) {
        struct nn_attend self = nn_self_attention(&m->layers[i], i, t->sequences, t->offset);
        struct nn_feed feed = nn_feed_of(&m->layers[i], i);
        nn_attend(&p, t->layers[i].feed.x, &t->layers[i].self, &self);
        nn_feed(&p, i + 1 < n ? t->layers[i + 1].self.x : t->final.x, &t->layers[i].feed, &feed);
    }
    nn_final(&p, &t->final, m->norm);
}

void nn_encoder_states_back(struct gpu_queue *q, const struct nn_gradients *grad,
                            const float *dstates, const struct nn_model *m,
                            const struct nn_weights *w, const struct nn_tape *t,
                            const struct nn_scratch *s, const struct nn_dropout *drop)
{
    struct nn_pass p = nn_pass_of(q, m, w, t->tokens, s, drop);
    p.grad = *grad;
    nn_final_back(&p, dstates, &t->final, m->norm);
    for (size_t i = m->config.layers; i-- > 0;) {
        struct nn_attend self = nn_self_attention(&m->layers[i], i, t->sequences, t->offset);
        struct nn_feed feed = nn_feed_of(&m->layers[i], i);
        nn_feed_back(&p, &t->layers[i].feed, &feed);
        nn_attend_back(&p, NULL, &t->layers[i].self, &self);
    }
    nn_embed_back(&p, s->dx, t->token, t->offset, t->sequences);
}

/* A pool of one row, the first or the last, is its mean. */
static enum gpu_pooling pooling_of(const struct nn_model *m)
{
    return m->config.pooling == NN_POOL_MAX ? GPU_MAX : GPU_MEAN;
}

void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop)
{
    nn_encoder_states(q, m, w, t, s, drop);
    q->op->pool(q, t->pooled, t->arg, t->final.out, t->pool_row, t->pool_offset, t->sequences,
                m->config.d_model, pooling_of(m));
}

void nn_encoder_backward(struct gpu_queue *q, const struct nn_gradients *grad, const float *dpooled,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, const struct nn_scratch *s,
                         const struct nn_dropout *drop)
{
    size_t d = m->config.d_model;
    q->op->fill(q, s->dn, t->tokens * d, 0);
    q->op->pool_back(q, s->dn, dpooled, t->arg, t->pool_row, t->pool_offset, t->sequences, d,
                     pooling_of(m));
    nn_encoder_states_back(q, grad, s->dn, m, w, t, s, drop);
}

void nn_encoder_memory(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       struct nn_tape *t, const struct nn_scratch *s, const struct nn_dropout *drop)
{
    switch (m->config.memory) {
    case NN_MEMORY_STATES: nn_encoder_states(q, m, w, t, s, drop); break;
    case NN_MEMORY_VECTOR: nn_encoder_forward(q, m, w, t, s, drop); break;
    }
}

void nn_encoder_memory_back(struct gpu_queue *q, const struct nn_gradients *grad,
                            const float *dmemory, const struct nn_model *m,
                            const struct nn_weights *w, const struct nn_tape *t,
                            const struct nn_scratch *s, const struct nn_dropout *drop)
{
    switch (m->config.memory) {
    case NN_MEMORY_STATES: nn_encoder_states_back(q, grad, dmemory, m, w, t, s, drop); break;
    case NN_MEMORY_VECTOR: nn_encoder_backward(q, grad, dmemory, m, w, t, s, drop); break;
    }
}
