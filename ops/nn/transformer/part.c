/* The parts of layers, each with forward, then backward; see part.h. */
#include "ops/nn/transformer/part.h"

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
                            .operands = w->rounded ? (const void *)w->rounded : w->flat,
                            .type = w->rounded ? GPU_TYPE_BF16 : GPU_TYPE_F32,
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

/* The rows from `from` on of the matrix (out, in). */
static struct linear_matrix matrix(const struct nn_pass *p, size_t at, size_t out, size_t in,
                                   size_t from)
{
    return p->m->transposed
               ? (struct linear_matrix){nn_operand(p, at + from), out + NN_TRANSPOSED_GAP, true}
               : (struct linear_matrix){nn_operand(p, at + from * in), in, false};
}

/* Places where dropout is applied, for its keys. */
enum site {
    SITE_EMBEDDING,
    SITE_ATTENTION,
    SITE_ACTIVATION,
    SITE_FEED_FORWARD,
    SITE_CROSS,
    SITE_PROBABILITIES,
    SITE_CROSS_PROBABILITIES
};

static struct gpu_dropout drop_of(const struct nn_pass *p, size_t cols, size_t layer,
                                  enum site site)
{
    return (struct gpu_dropout){p->drop->rate, rng_at(p->drop->key, layer, site),
                                p->drop->first_token * cols};
}

/* Applies dropout to x (tokens, cols) in place. */
static void dropout(const struct nn_pass *p, enum gpu_type type, void *x, size_t cols, size_t layer,
                    enum site site)
{
    struct gpu_dropout drop = drop_of(p, cols, layer, site);
    p->op->dropout(p->q, type, x, x, NULL, p->tokens * cols, &drop);
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
        dropout(p, GPU_TYPE_F32, x, p->d, 0, SITE_EMBEDDING);
}

void nn_embed_back(const struct nn_pass *p, float *dx, const uint32_t *token,
                   const uint32_t *offset, size_t sequences)
{
    if (p->drop)
        dropout(p, GPU_TYPE_F32, dx, p->d, 0, SITE_EMBEDDING);
    struct gpu_embedding how = embedding_of(p, token, offset, sequences);
    p->op->embed_back(p->q, p->grad + p->m->embedding, nn_gradient(p, p->m->positions), dx, &how);
}

/* ---- a residual branch: y = x + dropout(a W^T + b) ---- */

struct branch {
    size_t weight, bias, in, layer;
    enum site site;
};

/* Returns true if the gradient of a branch differs from dx; the backward of the following norm has
 * then computed it. */
static bool has_branch(const struct nn_pass *p)
{
    return p->drop || p->type != GPU_TYPE_F32;
}

/* With dropout, the following norm computes y. */
static void residual(struct nn_pass *p, float *y, const float *x, const void *a,
                     const struct branch *b)
{
    struct linear_matrix w = matrix(p, b->weight, p->d, b->in, 0);
    if (!p->drop) {
        linear_by(p->q, y, a, w, p->tokens, b->in, p->d,
                  (struct linear_end){.base = x, .bias = nn_weight(p, b->bias), .read = p->type},
                  p->precision);
        return;
    }
    linear_by(
        p->q, p->s->branch, a, w, p->tokens, b->in, p->d,
        (struct linear_end){.bias = nn_operand(p, b->bias), .read = p->type, .write = p->type},
        p->precision);
    p->open = y;
    p->base = x;
    p->branch = drop_of(p, p->d, b->layer, b->site);
}

/* Computes da (T, in) from dx, which is kept: it is also the gradient of x. */
static void residual_back(const struct nn_pass *p, void *da, const void *a, const struct branch *b,
                          struct linear_back_end end)
{
    const void *dy = has_branch(p) ? p->s->branch : p->s->dx;
    end.read = end.write = p->type;
    linear_back_weight(p->q, nn_gradient(p, b->weight), nn_gradient(p, b->bias), p->type, dy, a,
                       p->tokens, b->in, p->d, p->precision);
    linear_back_input(p->q, da, dy, nn_operand(p, b->weight), p->tokens, b->in, p->d, end,
                      p->precision);
}

/* ---- the norm before a branch ---- */

static struct gpu_norm norm_of(const struct nn_pass *p, float *x, float *mean, float *rstd,
                               struct nn_norm at)
{
    return (struct gpu_norm){.rows = p->tokens,
                             .cols = p->d,
                             .x = x,
                             .mean = mean,
                             .rstd = rstd,
                             .gamma = nn_weight(p, at.weight),
                             .beta = nn_weight(p, at.bias),
                             .type = p->type};
}

/* y (tokens, d) = norm(x) */
static void normalize(struct nn_pass *p, void *y, const struct gpu_norm *of)
{
    if (p->open == of->x)
        p->op->residual_norm(p->q, y, p->type, p->s->branch, p->base, &p->branch, of);
    else
        p->op->norm(p->q, y, of);
    p->open = NULL;
}

/* Computes dx from dy, and the gradient of the branch that ended in x; with SITE_EMBEDDING there is
 * none. */
static void normalize_back(const struct nn_pass *p, const struct gpu_norm *of, struct nn_norm at,
                           struct gpu_norm_back to, size_t layer, enum site site)
{
    struct gpu_dropout drop;
    to.dx = p->s->dx;
    to.dgamma = nn_gradient(p, at.weight);
    to.dbeta = nn_gradient(p, at.bias);
    if (site != SITE_EMBEDDING && has_branch(p)) {
        to.branch = p->s->branch;
        if (p->drop) {
            drop = drop_of(p, p->d, layer, site);
            to.drop = &drop;
        }
    }
    p->op->norm_back(p->q, &to, of);
}

/* Adds to dx the gradient from dn, and recomputes n = norm(x). */
static void normalize_within(const struct nn_pass *p, const struct gpu_norm *of, struct nn_norm at,
                             size_t layer, enum site site)
{
    normalize_back(p, of, at,
                   (struct gpu_norm_back){
                       .accumulate = true, .dy_type = p->type, .dy = p->s->dn, .y = p->s->n},
                   layer, site);
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
                                    const uint32_t *offset, const void *memory, size_t keys)
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
    const void *kv = own ? gpu_at(p->type, t->q, d) : how->cache ? how->cache->kv : t->kv;
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
        .v = gpu_at(p->type, kv, d),
        .q_ld = how->memory ? d : 3 * d,
        .kv_ld = own ? 3 * d : 2 * d,
        .lse = t->lse,
        .scale = 1 / sqrtf((float)(d / heads)),
        .causal = how->causal,
        .drop = drop ? (struct gpu_dropout){drop->attention, rng_at(drop->key, how->layer, site),
                                            drop->first_token}
                     : none,
        .type = p->type,
        .longest = how->longest};
}

/* y (rows, cols) = x w^T + b with the rows from .. from+cols-1 of in_proj. */
static void project(const struct nn_pass *p, void *y, const void *x, size_t rows, size_t from,
                    size_t cols, const struct nn_projections *at)
{
    bool biased = at->in_bias != NN_ABSENT;
    linear_by(p->q, y, x, matrix(p, at->in_weight, 3 * p->d, p->d, from), rows, p->d, cols,
              (struct linear_end){.bias = biased ? nn_operand(p, at->in_bias + from) : NULL,
                                  .read = p->type,
                                  .write = p->type},
              p->precision);
}

/* Sets dx, or if `add` adds to it; dx is f32 then. */
static void project_back_input(const struct nn_pass *p, void *dx, const void *dy, size_t rows,
                               size_t from, size_t cols, const struct nn_projections *at, bool add)
{
    linear_back_input(p->q, dx, dy, nn_operand(p, at->in_weight + from * p->d), rows, p->d, cols,
                      (struct linear_back_end){.beta = add ? 1 : 0,
                                               .read = p->type,
                                               .write = add ? GPU_TYPE_F32 : p->type},
                      p->precision);
}

static void project_back_weight(const struct nn_pass *p, const void *dy, const void *x, size_t rows,
                                size_t from, size_t cols, const struct nn_projections *at)
{
    float *bias = nn_gradient(p, at->in_bias);
    linear_back_weight(p->q, nn_gradient(p, at->in_weight) + from * p->d, bias ? bias + from : NULL,
                       p->type, dy, x, rows, p->d, cols, p->precision);
}

void nn_project_memory(const struct nn_pass *p, void *kv, const void *memory, size_t keys,
                       const struct nn_projections *at)
{
    project(p, kv, memory, keys, p->d, 2 * p->d, at);
}

static void append_to_cache(const struct nn_pass *p, const struct nn_attend_tape *t,
                            const struct nn_cache *c)
{
    size_t d = nn_floats(p, p->d);
    float *to = c->kv;
    const float *from = t->q;
    p->op->copy_rows(p->q, to + c->at * 2 * d, c->length * 2 * d, from + d, 3 * d, NULL, p->tokens,
                     2 * d);
}

/* Also computes t->kv if keys come from other rows. */
void nn_project(struct nn_pass *p, const struct nn_attend_tape *t, const struct nn_attend *how)
{
    void *n = t->n ? t->n : p->s->n;
    struct gpu_norm norm = norm_of(p, t->x, t->mean, t->rstd, how->norm);
    normalize(p, n, &norm);
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
    size_t cols = how->memory ? p->d : 3 * p->d; /* columns projected from the norm */
    struct gpu_norm norm = norm_of(p, t->x, t->mean, t->rstd, how->norm);
    project_back_input(p, s->dn, s->wide, p->tokens, 0, cols, &how->at, false);
    if (how->memory)
        normalize_within(p, &norm, how->norm, how->layer, SITE_ATTENTION);
    else
        normalize_within(p, &norm, how->norm, how->layer - 1,
                         how->layer ? SITE_FEED_FORWARD : SITE_EMBEDDING);
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
        p->op->attention_back(p->q, s->wide, s->dkv, gpu_at(p->type, s->dkv, p->d), s->dn, &at);
        project_back_input(p, dmemory, s->dkv, how->keys, p->d, 2 * p->d, &how->at, true);
        project_back_weight(p, s->dkv, how->memory, how->keys, p->d, 2 * p->d, &how->at);
    } else {
        p->op->attention_back(p->q, s->wide, gpu_at(p->type, s->wide, p->d),
                              gpu_at(p->type, s->wide, 2 * p->d), s->dn, &at);
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
    void *n = t->n ? t->n : p->s->n;
    struct gpu_norm norm = norm_of(p, t->x, t->mean, t->rstd, how->norm);
    normalize(p, n, &norm);
    struct linear_matrix w = matrix(p, how->at->linear1_weight, p->ff, p->d, 0);
    struct linear_end end = {.read = p->type, .write = p->type};
    if (p->m->config.activation == GPU_RELU) {
        end.bias = nn_operand(p, how->at->linear1_bias);
        end.relu = true;
        linear_by(p->q, t->act, n, w, p->tokens, p->d, p->ff, end, p->precision);
    } else { /* the backward of GELU needs its input */
        linear_by(p->q, t->h, n, w, p->tokens, p->d, p->ff, end, p->precision);
        p->op->activate(p->q, p->type, t->act, t->h, nn_weight(p, how->at->linear1_bias), p->tokens,
                        p->ff, GPU_GELU);
    }
    if (p->drop)
        dropout(p, p->type, t->act, p->ff, how->layer, SITE_ACTIVATION);
    residual(p, y, t->x, t->act, &out);
}

void nn_feed_back(const struct nn_pass *p, const struct nn_feed_tape *t, const struct nn_feed *how)
{
    const struct nn_scratch *s = p->s;
    const struct nn_layer *at = how->at;
    enum gpu_activation kind = p->m->config.activation;
    struct branch out = feed_branch(p, how);
    struct gpu_norm norm = norm_of(p, t->x, t->mean, t->rstd, how->norm);
    if (kind == GPU_RELU) { /* the mask is 0 where dropout was, so the other elements were kept */
        residual_back(p, s->wide, t->act, &out,
                      (struct linear_back_end){.factor = p->drop ? 1 / (1 - p->drop->rate) : 1,
                                               .mask = t->act});
    } else {
        residual_back(p, s->wide, t->act, &out, (struct linear_back_end){0});
        if (p->drop)
            dropout(p, p->type, s->wide, p->ff, how->layer, SITE_ACTIVATION);
        p->op->activate_back(p->q, p->type, s->wide, s->wide, t->h, nn_weight(p, at->linear1_bias),
                             p->tokens, p->ff, kind);
    }
    linear_back_input(p->q, s->dn, s->wide, nn_operand(p, at->linear1_weight), p->tokens, p->d,
                      p->ff, (struct linear_back_end){.read = p->type, .write = p->type},
                      p->precision);
    normalize_within(p, &norm, how->norm, how->layer,
                     at->cross.in_weight == NN_ABSENT ? SITE_ATTENTION : SITE_CROSS);
    linear_back_weight(p->q, nn_gradient(p, at->linear1_weight), nn_gradient(p, at->linear1_bias),
                       p->type, s->wide, s->n, p->tokens, p->d, p->ff, p->precision);
}

/* ---- the norm behind the last layer ---- */

void nn_final(struct nn_pass *p, const struct nn_final_tape *t, struct nn_norm norm)
{
    struct gpu_norm of = norm_of(p, t->x, t->mean, t->rstd, norm);
    of.type = GPU_TYPE_F32;
    normalize(p, t->out, &of);
}

void nn_final_back(const struct nn_pass *p, const float *dout, const struct nn_final_tape *t,
                   struct nn_norm norm, size_t layers)
{
    struct gpu_norm of = norm_of(p, t->x, t->mean, t->rstd, norm);
    normalize_back(p, &of, norm, (struct gpu_norm_back){.dy = dout}, layers - 1, SITE_FEED_FORWARD);
}
