/* The encoder; see encoder.h. Each part stands as forward, then backward. */
#include "ops/nn/encoder.h"

#include "base/rng.h"
#include "ops/nn/linear.h"

#include <math.h>

/* Everything that the parts of one pass share. */
struct pass {
    struct gpu_queue *q;
    const struct gpu_ops *op;
    const struct nn_model *m;
    const float *w; /* the flat parameters */
    float *grad;    /* backward: as flat */
    const struct nn_scratch *s;
    const struct nn_dropout *drop; /* NULL: none */
    size_t tokens, d, ff;
    enum gpu_precision precision;
};

static struct pass pass_of(struct gpu_queue *q, const struct nn_model *m,
                           const struct nn_weights *w, const struct nn_tape *t,
                           const struct nn_scratch *s, const struct nn_dropout *drop)
{
    return (struct pass){.q = q,
                         .op = q->op,
                         .m = m,
                         .w = w->flat,
                         .s = s,
                         .drop = drop && drop->rate > 0 ? drop : NULL,
                         .tokens = t->tokens,
                         .d = m->config.d_model,
                         .ff = m->config.d_ff,
                         .precision = w->precision};
}

static const float *weight(const struct pass *p, size_t at)
{
    return at == NN_ABSENT ? NULL : p->w + at;
}

static float *gradient(const struct pass *p, size_t at)
{
    return at == NN_ABSENT ? NULL : p->grad + at;
}

/* Places where dropout acts, for its keys. */
enum site { SITE_EMBEDDING, SITE_ATTENTION, SITE_ACTIVATION, SITE_FEED_FORWARD };

static void dropout(const struct pass *p, float *y, const float *x, size_t cols, size_t layer,
                    enum site site)
{
    p->op->dropout(p->q, y, x, p->tokens * cols, p->drop->rate, rng_at(p->drop->key, layer, site),
                   p->drop->first_token * cols);
}

/* ---- embedding ---- */

static const float *positions(const struct nn_model *m, const struct nn_weights *w)
{
    return m->positions == NN_ABSENT ? w->sinusoids : w->flat + m->positions;
}

static void embed(const struct pass *p, float *x, const struct nn_tape *t,
                  const struct nn_weights *w)
{
    p->op->embed(p->q, x, p->w + p->m->embedding, positions(p->m, w), t->token, t->offset,
                 t->sequences, p->d, sqrtf((float)p->d));
    if (p->drop)
        dropout(p, x, x, p->d, 0, SITE_EMBEDDING);
}

static void embed_back(const struct pass *p, float *dx, const struct nn_tape *t)
{
    if (p->drop)
        dropout(p, dx, dx, p->d, 0, SITE_EMBEDDING);
    p->op->embed_back(p->q, p->grad + p->m->embedding, gradient(p, p->m->positions), dx, t->token,
                      t->offset, t->sequences, p->d, sqrtf((float)p->d));
}

/* ---- a residual branch: y = x + dropout(a W^T + b) ---- */

struct branch {
    size_t weight, bias, in, layer;
    enum site site;
};

static void residual(const struct pass *p, float *y, const float *x, const float *a,
                     const struct branch *b)
{
    const float *w = weight(p, b->weight), *bias = weight(p, b->bias);
    if (!p->drop) {
        p->op->add_bias(p->q, y, x, bias, p->tokens, p->d);
        linear(p->q, y, a, w, p->tokens, b->in, p->d, true, p->precision);
        return;
    }
    float *sum = p->s->branch;
    linear(p->q, sum, a, w, p->tokens, b->in, p->d, false, p->precision);
    p->op->add_bias(p->q, sum, sum, bias, p->tokens, p->d);
    dropout(p, sum, sum, p->d, b->layer, b->site);
    p->op->add(p->q, sum, x, p->tokens * p->d);
    p->op->copy(p->q, y, sum, p->tokens * p->d);
}

/* da (T, in) from dx, which stays: it is also the gradient of x. */
static void residual_back(const struct pass *p, float *da, const float *dx, const float *a,
                          const struct branch *b)
{
    if (p->drop) {
        dropout(p, p->s->branch, dx, p->d, b->layer, b->site);
        dx = p->s->branch;
    }
    linear_back_weight(p->q, gradient(p, b->weight), gradient(p, b->bias), dx, a, p->tokens, b->in,
                       p->d, p->precision);
    linear_back_input(p->q, da, dx, weight(p, b->weight), p->tokens, b->in, p->d, p->precision);
}

/* ---- attention: mid = x + out_proj(attention(in_proj(norm1(x)))) ---- */

static struct gpu_attention attention_of(const struct pass *p, const struct nn_tape *t,
                                         const struct nn_layer_tape *l)
{
    uint32_t heads = p->m->config.heads;
    return (struct gpu_attention){.sequences = t->sequences,
                                  .heads = heads,
                                  .size = p->d / heads,
                                  .first = t->offset,
                                  .end = t->offset + 1,
                                  .key_first = t->offset,
                                  .key_end = t->offset + 1,
                                  .q = l->qkv,
                                  .k = l->qkv + p->d,
                                  .v = l->qkv + 2 * p->d,
                                  .q_ld = 3 * p->d,
                                  .kv_ld = 3 * p->d,
                                  .lse = l->lse,
                                  .scale = 1 / sqrtf((float)(p->d / heads))};
}

static void attend(const struct pass *p, const struct nn_tape *t, size_t i)
{
    const struct nn_layer *w = &p->m->layers[i];
    struct nn_layer_tape *l = &t->layers[i];
    struct gpu_attention at = attention_of(p, t, l);
    struct branch out = {w->out_weight, w->out_bias, p->d, i, SITE_ATTENTION};
    p->op->norm(p->q, l->n1, l->mean1, l->rstd1, l->x, weight(p, w->norm1_weight),
                weight(p, w->norm1_bias), p->tokens, p->d);
    linear(p->q, l->qkv, l->n1, weight(p, w->in_weight), p->tokens, p->d, 3 * p->d, false,
           p->precision);
    p->op->add_bias(p->q, l->qkv, l->qkv, weight(p, w->in_bias), p->tokens, 3 * p->d);
    p->op->attention(p->q, l->att, &at);
    residual(p, l->mid, l->x, l->att, &out);
}

static void attend_back(const struct pass *p, const struct nn_tape *t, size_t i)
{
    const struct nn_layer *w = &p->m->layers[i];
    const struct nn_layer_tape *l = &t->layers[i];
    const struct nn_scratch *s = p->s;
    struct gpu_attention at = attention_of(p, t, l);
    struct branch out = {w->out_weight, w->out_bias, p->d, i, SITE_ATTENTION};
    residual_back(p, s->dn, s->dx, l->att, &out);
    p->op->attention_back(p->q, s->wide, s->wide + p->d, s->wide + 2 * p->d, s->dn, &at);
    linear_back_weight(p->q, gradient(p, w->in_weight), gradient(p, w->in_bias), s->wide, l->n1,
                       p->tokens, p->d, 3 * p->d, p->precision);
    linear_back_input(p->q, s->dn, s->wide, weight(p, w->in_weight), p->tokens, p->d, 3 * p->d,
                      p->precision);
    p->op->norm_back(p->q, s->dx, gradient(p, w->norm1_weight), gradient(p, w->norm1_bias), s->dn,
                     l->x, l->mean1, l->rstd1, weight(p, w->norm1_weight), p->tokens, p->d, true);
}

/* ---- feed-forward: y = mid + linear2(act(linear1(norm2(mid)))) ---- */

static void feed(const struct pass *p, const struct nn_tape *t, size_t i, float *y)
{
    const struct nn_layer *w = &p->m->layers[i];
    struct nn_layer_tape *l = &t->layers[i];
    struct branch out = {w->linear2_weight, w->linear2_bias, p->ff, i, SITE_FEED_FORWARD};
    p->op->norm(p->q, l->n2, l->mean2, l->rstd2, l->mid, weight(p, w->norm2_weight),
                weight(p, w->norm2_bias), p->tokens, p->d);
    linear(p->q, l->h, l->n2, weight(p, w->linear1_weight), p->tokens, p->d, p->ff, false,
           p->precision);
    p->op->activate(p->q, l->act, l->h, weight(p, w->linear1_bias), p->tokens, p->ff,
                    p->m->config.activation);
    if (p->drop)
        dropout(p, l->act, l->act, p->ff, i, SITE_ACTIVATION);
    residual(p, y, l->mid, l->act, &out);
}

static void feed_back(const struct pass *p, const struct nn_tape *t, size_t i)
{
    const struct nn_layer *w = &p->m->layers[i];
    const struct nn_layer_tape *l = &t->layers[i];
    const struct nn_scratch *s = p->s;
    enum gpu_activation kind = p->m->config.activation;
    struct branch out = {w->linear2_weight, w->linear2_bias, p->ff, i, SITE_FEED_FORWARD};
    residual_back(p, s->wide, s->dx, l->act, &out);
    if (p->drop)
        dropout(p, s->wide, s->wide, p->ff, i, SITE_ACTIVATION);
    p->op->activate_back(p->q, s->wide, s->wide, kind == GPU_RELU ? l->act : l->h,
                         weight(p, w->linear1_bias), p->tokens, p->ff, kind);
    linear_back_weight(p->q, gradient(p, w->linear1_weight), gradient(p, w->linear1_bias), s->wide,
                       l->n2, p->tokens, p->d, p->ff, p->precision);
    linear_back_input(p->q, s->dn, s->wide, weight(p, w->linear1_weight), p->tokens, p->d, p->ff,
                      p->precision);
    p->op->norm_back(p->q, s->dx, gradient(p, w->norm2_weight), gradient(p, w->norm2_bias), s->dn,
                     l->mid, l->mean2, l->rstd2, weight(p, w->norm2_weight), p->tokens, p->d, true);
}

/* ---- the whole ---- */

static enum gpu_pooling pooling_of(const struct nn_model *m)
{
    /* The first token alone is the mean of one row. */
    return m->config.pooling == NN_POOL_MAX ? GPU_MAX : GPU_MEAN;
}

void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop)
{
    struct pass p = pass_of(q, m, w, t, s, drop);
    size_t n = m->config.layers;
    embed(&p, t->layers[0].x, t, w);
    for (size_t i = 0; i < n; i++) {
        attend(&p, t, i);
        feed(&p, t, i, i + 1 < n ? t->layers[i + 1].x : t->last);
    }
    p.op->norm(q, t->out, t->mean, t->rstd, t->last, weight(&p, m->norm_weight),
               weight(&p, m->norm_bias), p.tokens, p.d);
    p.op->pool(q, t->pooled, t->arg, t->out, t->pool_row, t->pool_offset, t->sequences, p.d,
               pooling_of(m));
}

void nn_encoder_backward(struct gpu_queue *q, float *grad, const float *dpooled,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, const struct nn_scratch *s,
                         const struct nn_dropout *drop)
{
    struct pass p = pass_of(q, m, w, t, s, drop);
    p.grad = grad;
    p.op->fill(q, s->dn, p.tokens * p.d, 0);
    p.op->pool_back(q, s->dn, dpooled, t->arg, t->pool_row, t->pool_offset, t->sequences, p.d,
                    pooling_of(m));
    p.op->norm_back(q, s->dx, gradient(&p, m->norm_weight), gradient(&p, m->norm_bias), s->dn,
                    t->last, t->mean, t->rstd, weight(&p, m->norm_weight), p.tokens, p.d, false);
    for (size_t i = m->config.layers; i-- > 0;) {
        feed_back(&p, t, i);
        attend_back(&p, t, i);
    }
    embed_back(&p, s->dx, t);
}
