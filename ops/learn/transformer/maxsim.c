/* Late interaction (ColBERT's MaxSim): the score of sequence i for sequence j is the sum, over the
 * tokens a of i, of the largest cosine of a with a token of j, divided by the temperature. Only
 * pooled tokens count.
 *
 * The scoring tokens of shard s form s->in (tokens, rows): 1 where a token belongs to a row. A
 * shard has (n, tokens) maxima over all n sequences, with their argmax, and scores are in^T
 * maxima^T. Cosines of tokens are computed for a pair of shards at a time, and not stored. */
#include "ops/learn/transformer/transformer_step.h"
#include "ops/nn/linear.h"

/* Returns the number of tokens of the shard that score. */
static size_t tokens_of(const struct transformer *t, const struct shard *s)
{
    return s->s.offset[shard_scored(t, s)];
}

static size_t first_token(const struct transformer *t, const struct shard *s)
{
    return t->batch.inputs.offset[s->first];
}

static float *units_of(const struct transformer *t, const struct shard *s)
{
    return t->c.units + first_token(t, s) * t->model->config.d_model;
}

void maxsim_layout(struct transformer *t, struct gpu_layout *in, struct gpu_layout *l)
{
    struct contrastive *c = &t->c;
    size_t n = t->batch.inputs.n, most = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct shard *s = &t->shards[i];
        size_t scored = tokens_of(t, s);
        most = s->s.offset[s->s.n] > most ? s->s.offset[s->s.n] : most;
        s->in = gpu_carve_floats(in, scored * shard_scored(t, s));
        s->maxima = gpu_carve_floats(l, n * scored);
        s->place = gpu_carve(l, n * scored * sizeof(uint32_t));
    }
    c->cosines = most * most;
    c->scratch = gpu_carve_floats(l, t->base.device->queues * c->cosines);
}

void maxsim_load(const struct transformer *t, const struct nn_block *in)
{
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct shard *s = &t->shards[i];
        size_t rows = shard_scored(t, s);
        const uint32_t *row = nn_host(in, s->tape.pool_row),
                       *offset = nn_host(in, s->tape.pool_offset);
        float *to = nn_host(in, s->in);
        for (size_t k = 0; k < tokens_of(t, s) * rows; k++)
            to[k] = 0;
        for (size_t r = 0; r < rows; r++)
            for (uint32_t k = offset[r]; k < offset[r + 1]; k++)
                to[row[k] * rows + r] = 1;
    }
}

static float *scratch_of(const struct transformer *t, const struct gpu_queue *q)
{
    return t->c.scratch + q->index * t->c.cosines;
}

void maxsim_forward(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    const struct shard *s = &t->shards[item];
    size_t n = t->batch.inputs.n, d = t->model->config.d_model;
    size_t rows = shard_scored(t, s), tokens = tokens_of(t, s);
    if (rows == 0)
        return;
    for (const struct shard *of = t->shards; of < t->shards + t->n_shards; of++) {
        if (of->s.n == 0)
            continue;
        product(q, "nt", scratch_of(t, q), units_of(t, of), units_of(t, s), of->s.offset[of->s.n],
                tokens, d, 1, 0, GPU_F32);
        q->op->pool(q, s->maxima + of->first * tokens, s->place + of->first * tokens,
                    scratch_of(t, q), of->tape.pool_row, of->tape.pool_offset, of->s.n, tokens,
                    GPU_MAX);
    }
    product(q, "tt", t->c.scores + s->first * n, s->in, s->maxima, rows, n, tokens,
            (float)(1 / t->config.temperature), 0, GPU_F32);
}

void maxsim_back_to_maxima(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    const struct shard *s = &t->shards[item];
    size_t n = t->batch.inputs.n, rows = shard_scored(t, s), tokens = tokens_of(t, s);
    if (rows == 0)
        return;
    product(q, "tt", s->maxima, t->c.scores + s->first * n, s->in, n, tokens, rows,
            (float)(1 / t->config.temperature), 0, GPU_F32);
}

/* Computes the gradient of the cosines of all tokens of `of` with those of s that score. */
static void cosines_back(const struct transformer *t, const struct shard *of, const struct shard *s,
                         struct gpu_queue *q)
{
    size_t tokens = tokens_of(t, s);
    float *to = scratch_of(t, q);
    q->op->fill(q, to, of->s.offset[of->s.n] * tokens, 0);
    q->op->pool_back(q, to, s->maxima + of->first * tokens, s->place + of->first * tokens,
                     of->tape.pool_row, of->tape.pool_offset, of->s.n, tokens, GPU_MAX);
}

void maxsim_back_to_states(const struct transformer *t, const struct shard *s, struct gpu_queue *q)
{
    size_t d = t->model->config.d_model, tokens = s->s.offset[s->s.n], first = first_token(t, s);
    float *to = t->c.dvectors + first * d;
    q->op->fill(q, to, tokens * d, 0);
    for (const struct shard *other = t->shards; other < t->shards + t->n_shards; other++) {
        if (other->s.n == 0)
            continue;
        const float *units = units_of(t, other), *dcosines = scratch_of(t, q);
        if (tokens_of(t, s)) { /* s as the scoring shard */
            cosines_back(t, other, s, q);
            product(q, "tn", to, dcosines, units, tokens_of(t, s), d, other->s.offset[other->s.n],
                    1, 1, GPU_F32);
        }
        if (tokens_of(t, other)) { /* s as the scored shard */
            cosines_back(t, s, other, q);
            product(q, "nn", to, dcosines, units, tokens, d, tokens_of(t, other), 1, 1, GPU_F32);
        }
    }
    q->op->normalize_back(q, to, to, units_of(t, s), t->c.norms + first, tokens, d);
}
