/* What the trainer and its objectives share: the cut of a batch into shards, and what each shard is
 * computed with; see objective.h. */
#include "ops/learn/train/objective.h"

struct nn_sequences sequences_slice(struct arena *a, const struct nn_sequences *all, size_t first,
                                    size_t n)
{
    uint32_t *offset = arena_array(a, uint32_t, n + 1);
    for (size_t i = 0; i <= n; i++)
        offset[i] = all->offset[first + i] - all->offset[first];
    return (struct nn_sequences){all->tokens + all->offset[first], offset, n};
}

/* Shard i ends with the first sequence that reaches the (i+1)-th part of the tokens. */
void trainer_cut(struct trainer *t, const uint32_t *weight)
{
    const struct nn_sequences *all = &t->batch.inputs;
    size_t tokens = weight[all->n];
    const struct gpu_cuts *cuts = &t->device->cuts;
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

struct nn_weights trainer_weights(const struct trainer *t)
{
    return (struct nn_weights){.flat = t->base.weights,
                               .sinusoids = t->sinusoids,
                               .precision = t->config.precision,
                               .shared = t->shared.first ? t->shared.projected : NULL,
                               .rounded = t->rounded};
}

struct nn_gradients trainer_gradients(const struct trainer *t, struct gpu_queue *q, size_t group,
                                      size_t place)
{
    size_t n = t->n_shards / t->base.n_groups, sequences[2] = {0}; /* before it, from it on */
    for (size_t i = 0; i < n; i++)
        sequences[i >= place] += t->shards[group * n + i].s.n;
    if (place == 0 && sequences[1])
        return nn_gradients_begin(q, t->base.groups[group], t->model);
    if (place == 0) /* nobody will write */
        q->op->fill(q, t->base.groups[group], t->model->table.total, 0);
    return (struct nn_gradients){t->base.groups[group], sequences[0] == 0};
}

struct nn_dropout trainer_dropout(const struct trainer *t, uint64_t first)
{
    struct nn_dropout drop = t->dropout;
    drop.first_token = first;
    return drop;
}
