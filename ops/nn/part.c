/* The parts of layers; see part.h. Each stands as forward, then backward. */
#include "ops/nn/part.h"

#include "base/rng.h"
#include "ops/nn/linear.h"

#include <math.h>

struct nn_pass nn_pass_of(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                          size_t tokens, const struct nn_scratch *s, const struct nn_dropout *drop)
{
    return (struct nn_pass){.q = q,
                            .op = q->op,
                            .m = m,
                            .w = w->flat,
                            .positions =
                                m->positions == NN_ABSENT ? w->sinusoids : w->flat + m->positions,
                            .s = s,
                            .drop = drop && drop->rate > 0 ? drop : NULL,
                            .attention_drop = drop && drop->attention > 0 ? drop : NULL,
                            .tokens = tokens,
                            .d = m->config.d_model,
                            .ff = m->config.d_ff,
                            .precision = w->precision};
}

/* Rows from `from` on of the matrix (out, in). */
static struct linear_matrix matrix(const struct nn_pass *p, size_t at, size_t out, size_t in,
                                   size_t from)
{
    const float *w = nn_weight(p, at);
    return p->m->turned ? (struct linear_matrix){w + from, out + NN_TURNED_GAP, true}
                        : (struct linear_matrix){w + from * in, in, false};
}

/* Places where dropout acts, for its keys. */
enum site {
    SITE_EMBEDDING,
    SITE_ATTENTION,
    SITE_ACTIVATION,
    SITE_FEED_FORWARD,
    SITE_CROSS,
    SITE_PROBABILITIES,
    SITE_CROSS_PROBABILITIES
};

/* y = [base +] dropout(x) */
static void dropout(const struct nn_pass *p, float *y, const float *x, const float *base,
                    size_t cols, size_t layer, enum site site)
{
    p->op->dropout(p->q, y, x, base, p->tokens * cols, p->drop->rate,
                   rng_at(p->drop->key, layer, site), p->drop->first_token * cols);
}

/* ---- embedding ---- */

static struct gpu_embedding embedding_of(const struct nn_pass *p, const uint32_t *token,
                                         const uint32_t *offset, size_t sequences)
{
    const struct nn_config *c = &p->m->config;
    return (struct gpu_embedding){.token = token,
                                  .offset = offset,
                                  .sequences = sequences,
                                  .tokens = p->tokens,
                                  .cols = p->d,
                                  .vocabulary = c->vocabulary,
                                  .places = c->max_length,
                                  .scale = sqrtf((float)p->d)};
}

void nn_embed(const struct nn_pass *p, float *x, const uint32_t *token, const uint32_t *offset,
              size_t sequences)
{
    struct gpu_embedding how = embedding_of(p, token, offset, sequences);
    p->op->embed(p->q, x, p->w + p->m->embedding, p->positions, &how);
    if (p->drop)
        dropout(p, x, x, NULL, p->d, 0, SITE_EMBEDDING);
}

void nn_embed_back(const struct nn_pass *p, float *dx, const uint32_t *token,
                   const uint32_t *offset, size_t sequences)
{
    if (p->drop)
        dropout(p, dx, dx, NULL, p->d, 0, SITE_EMBEDDING);
    struct gpu_embedding how = embedding_of(p, token, offset, sequences);
    p->op->embed_back(p->q, p->grad.flat + p->m->embedding, nn_gradient(p, p->m->positions), dx,
                      &how);
}

/* ---- a residual branch: y = x + dropout(a W^T + b) ---- */

struct branch {
    size_t weight, bias, in, layer;
    enum site site;
};

/* With dropout y is made by the norm that follows. */
static void residual(struct nn_pass *p, float *y, const float *x, const float *a,
                     const struct branch *b)
{
    struct linear_matrix w = matrix(p, b->weight, p->d, b->in, 0);
    const float *bias = nn_weight(p, b->bias);
    if (!p->drop) {
        linear_by(p->q, y, a, w, p->tokens, b->in, p->d,
                  (struct linear_end){.base = x, .bias = bias}, p->precision);
        return;
    }
    float *sum = p->s->branch;
    linear_by(p->q, sum, a, w, p->tokens, b->in, p->d, (struct linear_end){.bias = bias},
              p->precision);
    p->open = y;
    p->base = x;
    p->branch = (struct gpu_dropout){p->drop->rate, rng_at(p->drop->key, b->layer, b->site),
                                     p->drop->first_token * p->d};
}

/* da (T, in) from dx, which stays: it is also the gradient of x. */
static void residual_back(const struct nn_pass *p, float *da, const float *a,
                          const struct branch *b, struct linear_back_end end)
{
    const float *dx = p->s->dx;
    if (p->drop) {
        dropout(p, p->s->branch, dx, NULL, p->d, b->layer, b->site);
        dx = p->s->branch;
    }
    linear_back_weight(p->q, nn_gradient(p, b->weight), !p->grad.fresh, nn_gradient(p, b->bias), dx,
                       a, p->tokens, b->in, p->d, p->precision);
    linear_back_input(p->q, da, dx, nn_weight(p, b->weight), p->tokens, b->in, p->d, end,
                      p->precision);
}

/* ---- the norm before a branch ---- */

struct normed {
    float *x;
    float *mean, *rstd;
    struct nn_norm norm;
};

/* n (tokens, d) = norm(x) */
static void normalize(struct nn_pass *p, float *n, const struct normed *of)
{
    const float *gamma = nn_weight(p, of->norm.weight), *beta = nn_weight(p, of->norm.bias);
    if (p->open == of->x)
        p->op->residual_norm(p->q, n, of->mean, of->rstd, of->x, p->s->branch, p->base, &p->branch,
                             gamma, beta, p->tokens, p->d);
    else
        p->op->norm(p->q, n, of->mean, of->rstd, of->x, gamma, beta, p->tokens, p->d);
    p->open = NULL;
}

/* dx += from dn; n becomes norm(x) once more. */
static void normalize_back(const struct nn_pass *p, const struct normed *of)
{
    const struct nn_scratch *s = p->s;
    p->op->norm_back(p->q, s->dx, nn_gradient(p, of->norm.weight), nn_gradient(p, of->norm.bias),
                     s->n, s->dn, of->x, of->mean, of->rstd, nn_weight(p, of->norm.weight),
                     nn_weight(p, of->norm.bias), p->tokens, p->d, true);
}

/* ---- attention ---- */

struct nn_attend nn_self_attention(const struct nn_layer *l, size_t layer, size_t sequences,
                                   const uint32_t *offset)
{
    return (struct nn_attend){.at = l->self,
                              .norm = l->norm1,
                              .layer = layer,
                              .sequences = sequences,
                              .offset = offset,
                              .key_first = offset,
                              .key_end = offset + 1};
}

struct nn_attend nn_cross_attention(const struct nn_layer *l, size_t layer, size_t sequences,
                                    const uint32_t *offset, const float *memory, size_t keys)
{
    return (struct nn_attend){.at = l->cross,
                              .norm = l->norm2,
                              .layer = layer,
                              .sequences = sequences,
                              .offset = offset,
                              .memory = memory,
                              .keys = keys};
}

static struct branch attend_branch(const struct nn_pass *p, const struct nn_attend *how)
{
    return (struct branch){how->at.out_weight, how->at.out_bias, p->d, how->layer,
                           how->memory ? SITE_CROSS : SITE_ATTENTION};
}

static struct gpu_attention attention_of(const struct nn_pass *p, const struct nn_attend_tape *t,
                                         const struct nn_attend *how)
{
    size_t heads = p->m->config.heads, d = p->d;
    bool own = !how->cache && !how->memory;
    const float *kv = own ? t->q + d : how->cache ? how->cache->kv : t->kv;
    const struct nn_dropout *drop = p->attention_drop;
    enum site site = how->memory ? SITE_CROSS_PROBABILITIES : SITE_PROBABILITIES;
    struct gpu_dropout none = {0};
    return (struct gpu_attention){
        .sequences = how->sequences,
        .heads = heads,
        .size = d / heads,
        .rows = p->tokens,
        .first = how->offset,
        .end = how->offset + 1,
        .key_first = how->key_first,
        .key_end = how->key_end,
        .q = t->q,
        .k = kv,
        .v = kv + d,
        .q_ld = how->memory ? d : 3 * d,
        .kv_ld = own ? 3 * d : 2 * d,
        .lse = t->lse,
        .scale = 1 / sqrtf((float)(d / heads)),
        .causal = how->causal,
        .drop = drop ? (struct gpu_dropout){drop->attention, rng_at(drop->key, how->layer, site),
                                            drop->first_token}
                     : none,
        .precision = p->precision,
        .longest = how->longest};
}

/* y (rows, cols) = x w^T + b for the rows from..from+cols of in_proj. */
static void project(const struct nn_pass *p, float *y, const float *x, size_t rows, size_t from,
                    size_t cols, const struct nn_projections *at)
{
    const float *bias = nn_weight(p, at->in_bias);
    linear_by(p->q, y, x, matrix(p, at->in_weight, 3 * p->d, p->d, from), rows, p->d, cols,
              (struct linear_end){.bias = bias ? bias + from : NULL}, p->precision);
}

static void project_back_input(const struct nn_pass *p, float *dx, const float *dy, size_t rows,
                               size_t from, size_t cols, const struct nn_projections *at,
                               float beta)
{
    linear_back_input(p->q, dx, dy, nn_weight(p, at->in_weight) + from * p->d, rows, p->d, cols,
                      (struct linear_back_end){.beta = beta}, p->precision);
}

static void project_back_weight(const struct nn_pass *p, const float *dy, const float *x,
                                size_t rows, size_t from, size_t cols,
                                const struct nn_projections *at)
{
    float *bias = nn_gradient(p, at->in_bias);
    linear_back_weight(p->q, nn_gradient(p, at->in_weight) + from * p->d, !p->grad.fresh,
                       bias ? bias + from : NULL, dy, x, rows, p->d, cols, p->precision);
}

void nn_project_memory(const struct nn_pass *p, float *kv, const float *memory, size_t keys,
                       const struct nn_projections *at)
{
    project(p, kv, memory, keys, p->d, 2 * p->d, at);
}

static void append_to_cache(const struct nn_pass *p, const struct nn_attend_tape *t,
                            const struct nn_cache *c)
{
    size_t d = p->d;
    p->op->copy_rows(p->q, c->kv + c->at * 2 * d, c->length * 2 * d, t->q + d, 3 * d, NULL,
                     p->tokens, 2 * d);
}

/* t->kv too if it is of other rows. */
void nn_project(struct nn_pass *p, const struct nn_attend_tape *t, const struct nn_attend *how)
{
    float *n = t->n ? t->n : p->s->n;
    normalize(p, n, &(struct normed){t->x, t->mean, t->rstd, how->norm});
    if (how->memory) {
        project(p, t->q, n, p->tokens, 0, p->d, &how->at);
        if (!how->projected)
            nn_project_memory(p, t->kv, how->memory, how->keys, &how->at);
    } else {
        project(p, t->q, n, p->tokens, 0, 3 * p->d, &how->at);
    }
}

void nn_attend(struct nn_pass *p, float *y, const struct nn_attend_tape *t,
               const struct nn_attend *how)
{
    struct branch out = attend_branch(p, how);
    struct gpu_attention at = attention_of(p, t, how);
    if (how->shared)
        p->op->copy_rows(p->q, t->q, 3 * p->d, how->shared, 3 * p->d, how->row, p->tokens,
                         3 * p->d);
    else
        nn_project(p, t, how);
    if (how->cache)
        append_to_cache(p, t, how->cache);
    p->op->attention(p->q, t->out, &at);
    residual(p, y, t->x, t->out, &out);
}

void nn_project_back(const struct nn_pass *p, const struct nn_attend_tape *t,
                     const struct nn_attend *how)
{
    const struct nn_scratch *s = p->s;
    size_t cols = how->memory ? p->d : 3 * p->d; /* that come from the norm */
    project_back_input(p, s->dn, s->wide, p->tokens, 0, cols, &how->at, 0);
    normalize_back(p, &(struct normed){t->x, t->mean, t->rstd, how->norm});
    project_back_weight(p, s->wide, s->n, p->tokens, 0, cols, &how->at);
}

void nn_attend_back(const struct nn_pass *p, float *dmemory, const struct nn_attend_tape *t,
                    const struct nn_attend *how)
{
    const struct nn_scratch *s = p->s;
    struct branch out = attend_branch(p, how);
    struct gpu_attention at = attention_of(p, t, how);
    residual_back(p, s->dn, t->out, &out, (struct linear_back_end){0});
    if (how->memory) {
        p->op->attention_back(p->q, s->wide, s->dkv, s->dkv + p->d, s->dn, &at);
        project_back_input(p, dmemory, s->dkv, how->keys, p->d, 2 * p->d, &how->at, 1);
        project_back_weight(p, s->dkv, how->memory, how->keys, p->d, 2 * p->d, &how->at);
    } else {
        p->op->attention_back(p->q, s->wide, s->wide + p->d, s->wide + 2 * p->d, s->dn, &at);
    }
    if (how->shared) {
        p->op->copy(p->q, t->q, s->wide, p->tokens * 3 * p->d);
        p->op->copy(p->q, t->x, s->dx, p->tokens * p->d);
    } else {
        nn_project_back(p, t, how);
    }
}

/* ---- feed-forward ---- */

struct nn_feed nn_feed_of(const struct nn_layer *l, size_t layer)
{
    return (struct nn_feed){l, l->norm3.weight == NN_ABSENT ? l->norm2 : l->norm3, layer};
}

static struct branch feed_branch(const struct nn_pass *p, const struct nn_feed *how)
{
    return (struct branch){how->at->linear2_weight, how->at->linear2_bias, p->ff, how->layer,
                           SITE_FEED_FORWARD};
}

void nn_feed(struct nn_pass *p, float *y, const struct nn_feed_tape *t, const struct nn_feed *how)
{
    struct branch out = feed_branch(p, how);
    float *n = t->n ? t->n : p->s->n;
    normalize(p, n, &(struct normed){t->x, t->mean, t->rstd, how->norm});
    struct linear_matrix w = matrix(p, how->at->linear1_weight, p->ff, p->d, 0);
    const float *bias = nn_weight(p, how->at->linear1_bias);
    if (p->m->config.activation == GPU_RELU) {
        linear_by(p->q, t->act, n, w, p->tokens, p->d, p->ff,
                  (struct linear_end){.bias = bias, .relu = true}, p->precision);
    } else { /* the backward of GELU wants its input */
        linear_by(p->q, t->h, n, w, p->tokens, p->d, p->ff, (struct linear_end){0}, p->precision);
        p->op->activate(p->q, t->act, t->h, bias, p->tokens, p->ff, GPU_GELU);
    }
    if (p->drop)
        dropout(p, t->act, t->act, NULL, p->ff, how->layer, SITE_ACTIVATION);
    residual(p, y, t->x, t->act, &out);
}

void nn_feed_back(const struct nn_pass *p, const struct nn_feed_tape *t, const struct nn_feed *how)
{
    const struct nn_scratch *s = p->s;
    const struct nn_layer *at = how->at;
    enum gpu_activation kind = p->m->config.activation;
    struct branch out = feed_branch(p, how);
    if (kind == GPU_RELU) { /* the mask is 0 where dropout was, so the other elements were kept */
        residual_back(p, s->wide, t->act, &out,
                      (struct linear_back_end){.factor = p->drop ? 1 / (1 - p->drop->rate) : 1,
                                               .mask = t->act});
    } else {
        residual_back(p, s->wide, t->act, &out, (struct linear_back_end){0});
        if (p->drop)
            dropout(p, s->wide, s->wide, NULL, p->ff, how->layer, SITE_ACTIVATION);
        p->op->activate_back(p->q, s->wide, s->wide, t->h, nn_weight(p, at->linear1_bias),
                             p->tokens, p->ff, kind);
    }
    linear_back_input(p->q, s->dn, s->wide, nn_weight(p, at->linear1_weight), p->tokens, p->d,
                      p->ff, (struct linear_back_end){0}, p->precision);
    normalize_back(p, &(struct normed){t->x, t->mean, t->rstd, how->norm});
    linear_back_weight(p->q, nn_gradient(p, at->linear1_weight), !p->grad.fresh,
                       nn_gradient(p, at->linear1_bias), s->wide, s->n, p->tokens, p->d, p->ff,
                       p->precision);
}

/* ---- the norm behind the last layer ---- */

void nn_final(struct nn_pass *p, const struct nn_final_tape *t, struct nn_norm norm)
{
    normalize(p, t->out, &(struct normed){t->x, t->mean, t->rstd, norm});
}

void nn_final_back(const struct nn_pass *p, const float *dout, const struct nn_final_tape *t,
                   struct nn_norm norm)
{
    p->op->norm_back(p->q, p->s->dx, nn_gradient(p, norm.weight), nn_gradient(p, norm.bias), NULL,
                     dout, t->x, t->mean, t->rstd, nn_weight(p, norm.weight), NULL, p->tokens, p->d,
                     false);
}
