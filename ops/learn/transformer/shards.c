/* Shared by the objectives: the life of a training, the cut of a batch into shards, the arguments
 * of a shard's passes, and projections shared by equal tokens; see transformer_step.h. */
#include "ops/learn/transformer/transformer_step.h"

#include "base/rng.h"

#include <string.h>

/* ---- life ---- */

enum err_code transformer_open(void *self, struct err *e)
{
    struct transformer *t = self;
    struct trainer *x = &t->base;
    const struct nn_config *c = &t->model->config;
    size_t table = (size_t)c->max_length * c->d_model;
    enum err_code code = trainer_alloc(&t->sinusoids, x, table * sizeof(float), e);
    if (code)
        return err_up(e, code);
    t->scratch = arena_array(&x->own, struct nn_scratch, x->device->queues);
    t->work = arena_array(&x->own, struct arena, x->device->queues);
    float *host = arena_try_alloc(&x->arena, table, sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for %zu numbers", table);
    nn_sinusoids(host, c->max_length, c->d_model);
    gpu_write(x->queue, t->sinusoids, host, table * sizeof *host);
    return OK;
}

void transformer_close(void *self)
{
    struct transformer *t = self;
    for (unsigned i = 0; t->work && i < t->base.device->queues; i++)
        arena_free(&t->work[i]);
}

void transformer_take(struct transformer *t)
{
    bool training = t->base.training;
    t->batch = *(const struct examples *)t->base.batch;
    t->dropout = (struct nn_dropout){
        .rate = training ? (float)t->config.dropout : 0,
        .attention = training ? (float)t->config.attention_dropout : 0,
        .key = rng_at(t->config.seed, STREAM_DROPOUT, t->base.steps),
    };
}

/* ---- shards ---- */

struct nn_sequences sequences_slice(struct arena *a, const struct nn_sequences *all, size_t first,
                                    size_t n)
{
    uint32_t *offset = arena_array(a, uint32_t, n + 1);
    for (size_t i = 0; i <= n; i++)
        offset[i] = all->offset[first + i] - all->offset[first];
    return (struct nn_sequences){all->tokens + all->offset[first], offset, n};
}

/* Shard i ends with the first sequence that reaches part (i+1) of the tokens. */
void transformer_cut(struct transformer *t, const uint32_t *weight)
{
    const struct nn_sequences *all = &t->batch.inputs;
    size_t tokens = weight[all->n];
    const struct gpu_cuts *cuts = &t->base.device->cuts;
    size_t wide = cuts->shard_widths * t->model->config.d_model;
    size_t group = cuts->groups * (wide > cuts->shard_tokens ? wide : cuts->shard_tokens);
    size_t per_group = (tokens + group - 1) / group;
    t->n_shards = cuts->groups * per_group;
    t->shards = arena_array(&t->base.arena, struct shard, t->n_shards);
    size_t at = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        size_t first = at, end = tokens * (i + 1) / t->n_shards;
        while (at < all->n && weight[at + 1] <= end)
            at++;
        if (i + 1 == t->n_shards)
            at = all->n;
        t->shards[i] = (struct shard){.s = sequences_slice(&t->base.arena, all, first, at - first),
                                      .first = first};
    }
}

struct nn_weights transformer_weights(const struct transformer *t)
{
    return (struct nn_weights){.flat = t->base.weights,
                               .sinusoids = t->sinusoids,
                               .precision = t->base.config.precision,
                               .shared = t->shared.first ? t->shared.projected : NULL,
                               .rounded = t->base.rounded};
}

struct nn_dropout transformer_dropout(const struct transformer *t, uint64_t first)
{
    struct nn_dropout drop = t->dropout;
    drop.first_token = first;
    return drop;
}

/* ---- shared projections of equal tokens ---- */

/* The first layer's projections of a batch, computed once for all occurrences of a token at the
 * same position (ops/nn/transformer/shared.h). The shards write their gradients to one array in the order of
 * the batch; it is summed by shared row when all are done. Part g of the rows adds to the gradients
 * of group g. */

/* Shares if most tokens share their row, as only then it is faster. */
void transformer_share(struct transformer *t)
{
    const struct nn_sequences *all = &t->batch.inputs;
    const struct nn_config *c = &t->model->config;
    struct shared_rows *h = &t->shared;
    size_t groups = t->base.n_groups;
    *h = (struct shared_rows){.tokens = all->offset[all->n]};
    if (t->dropout.rate > 0 || c->vocabulary > t->base.device->cuts.shared_rows)
        return;
    uint32_t *first = nn_shared_first(&t->base.arena, c, all), v = 0;
    size_t rows = first[c->vocabulary];
    if (rows > t->base.device->cuts.shared_rows || 2 * rows > h->tokens)
        return;
    h->first = first;
    for (size_t g = 1; g < groups; g++) {
        while (first[v] < rows * g / groups)
            v++;
        h->from[g] = v;
    }
    h->from[groups] = c->vocabulary;
}

void transformer_share_layout(struct transformer *t, struct gpu_layout *in, struct gpu_layout *l)
{
    const struct nn_config *c = &t->model->config;
    struct shared_rows *h = &t->shared;
    size_t d = c->d_model;
    if (!h->first)
        return;
    size_t rows = h->first[c->vocabulary];
    h->row = gpu_carve(in, h->tokens * sizeof(uint32_t));
    h->of = gpu_carve(in, h->tokens * sizeof(uint32_t));
    h->of_offset = gpu_carve(in, (rows + 1) * sizeof(uint32_t));
    h->x = gpu_carve_floats(l, h->tokens * d);
    h->q = gpu_carve_floats(l, h->tokens * 3 * d);
    h->projected = gpu_carve_floats(l, rows * 3 * d);
    for (size_t g = 0; g < t->base.n_groups; g++)
        nn_shared_layout(&h->parts[g], c, h->first, h->from[g], h->from[g + 1],
                         l->base ? h->projected + h->first[h->from[g]] * 3 * d : NULL, true, in, l);
}

struct nn_attend_tape transformer_share_tape(const struct transformer *t, size_t first)
{
    size_t d = t->model->config.d_model;
    const struct shared_rows *h = &t->shared;
    return (struct nn_attend_tape){.x = h->x ? h->x + first * d : NULL,
                                   .q = h->q ? h->q + first * 3 * d : NULL};
}

size_t transformer_share_rows(const struct transformer *t)
{
    size_t most = 0;
    for (size_t g = 0; t->shared.first && g < t->base.n_groups; g++)
        most = t->shared.parts[g].rows > most ? t->shared.parts[g].rows : most;
    return most;
}

void transformer_share_load(const struct transformer *t, const struct nn_block *in)
{
    const struct shared_rows *h = &t->shared;
    if (!h->first)
        return;
    size_t rows = h->first[t->model->config.vocabulary];
    uint32_t *row = nn_host(in, h->row), *of = nn_host(in, h->of);
    uint32_t *offset = nn_host(in, h->of_offset);
    for (size_t g = 0; g < t->base.n_groups; g++)
        nn_shared_load(in, &h->parts[g], h->first, h->from[g]);
    nn_shared_rows(row, h->first, &t->batch.inputs);
    memset(offset, 0, (rows + 1) * sizeof *offset);
    for (size_t i = 0; i < h->tokens; i++)
        offset[row[i]]++;
    for (size_t i = 1; i <= rows; i++) /* the ends of the rows' lists */
        offset[i] += offset[i - 1];
    for (size_t i = h->tokens; i-- > 0;)
        of[--offset[row[i]]] = (uint32_t)i;
}

static void forward_part(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    struct nn_weights w = transformer_weights(t);
    nn_shared_forward(q, t->model, &w, &t->shared.parts[item], &t->scratch[q->index]);
}

enum err_code transformer_share_forward(struct transformer *t, struct err *e)
{
    if (!t->shared.first)
        return OK;
    return err_up(e, gpu_each(t->base.queue, t->base.n_groups, forward_part, t, e));
}

static void backward_part(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    const struct shared_rows *h = &t->shared;
    struct nn_weights w = transformer_weights(t);
    nn_shared_backward(q, t->base.groups[item], h->q, h->x, h->of,
                       h->of_offset + h->first[h->from[item]], t->model, &w, &h->parts[item],
                       &t->scratch[q->index]);
}

enum err_code transformer_share_backward(struct transformer *t, struct err *e)
{
    if (!t->shared.first)
        return OK;
    return err_up(e, gpu_each(t->base.queue, t->base.n_groups, backward_part, t, e));
}
