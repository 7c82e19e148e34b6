/* Sequence to sequence: the mean over all target tokens, the end included, of their cross entropy
 * given the tokens before them and the input.
 *
 * Nothing couples the examples of a batch but the number of its tokens, so each shard is worked on
 * from end to end in the memory of its queue: a batch may be as large as one likes. */
#include "ops/learn/train/objective.h"
#include "ops/nn/decoder.h"

/* What one queue computes a shard with. */
struct workspace {
    struct nn_tape in;
    struct nn_decoder_tape out;
    struct nn_scratch scratch;
    struct nn_sequences fed; /* the targets, START in front of each */
    uint32_t *label;         /* the same, END behind each */
};

static void feed(struct workspace *k, const struct trainer *t, const struct shard *s,
                 struct arena *a)
{
    struct nn_sequences targets = sequences_slice(a, &t->batch.targets, s->first, s->s.n);
    size_t total = targets.offset[targets.n] + targets.n;
    uint32_t *offset = arena_array(a, uint32_t, targets.n + 1);
    uint32_t *tokens = arena_array(a, uint32_t, total);
    k->label = arena_array(a, uint32_t, total);
    for (size_t i = 0, at = 0; i < targets.n; i++) {
        tokens[at] = NN_START;
        for (uint32_t j = targets.offset[i]; j < targets.offset[i + 1]; j++) {
            k->label[at++] = targets.tokens[j];
            tokens[at] = targets.tokens[j];
        }
        k->label[at++] = NN_END;
        offset[i + 1] = (uint32_t)at;
    }
    k->fed = (struct nn_sequences){tokens, offset, targets.n};
}

static void lay_out(struct workspace *k, const struct trainer *t, const struct shard *s,
                    struct gpu_layout *l, struct arena *a)
{
    feed(k, t, s, a);
    nn_tape_layout(&k->in, t->model, &s->s, true, l, a);
    nn_decoder_layout(&k->out, t->model, &k->fed, &k->in, l, a);
    size_t in = k->in.tokens, out = k->out.tokens;
    nn_scratch_layout(&k->scratch, t->model, in > out ? in : out, in, l);
}

static size_t target_tokens(const struct trainer *t)
{
    return t->batch.targets.offset[t->batch.targets.n] + t->batch.targets.n;
}

/* Keys of the decoder's dropout differ from the encoder's. */
static struct nn_dropout decoder_dropout(const struct trainer *t, const struct shard *s)
{
    uint64_t first = t->batch.targets.offset[s->first] + s->first;
    struct nn_dropout drop = trainer_dropout(t, first);
    drop.key = ~drop.key;
    return drop;
}

static void read_loss(struct gpu_queue *q, struct shard *s, const struct workspace *k,
                      struct arena *a)
{
    size_t n = k->out.tokens;
    float *values = arena_array(a, float, 2 * n);
    gpu_read(q, values, k->out.loss, n * sizeof *values);
    gpu_read(q, values + n, k->out.correct, n * sizeof *values);
    s->loss = s->correct = 0;
    for (size_t i = 0; i < n; i++) {
        s->loss += values[i];
        s->correct += values[n + i];
    }
}

/* Forward and loss; backward too, into the gradients, if there are any. */
static void run_shard(struct trainer *t, struct shard *s, const struct nn_gradients *gradients,
                      struct gpu_queue *q)
{
    struct arena *a = &t->work[q->index];
    struct workspace k;
    struct gpu_layout l = {.base = (char *)t->memory + q->index * t->region};
    struct nn_weights w = trainer_weights(t);
    struct nn_dropout in = trainer_dropout(t, t->batch.inputs.offset[s->first]);
    struct nn_dropout out = decoder_dropout(t, s);
    bool pooled = nn_memory_is_pooled(t->model);
    arena_reset(a);
    lay_out(&k, t, s, &l, a);
    nn_tape_load(q, &k.in, t->model, &s->s, a);
    nn_decoder_load(q, &k.out, &k.fed, k.label);
    nn_encoder_forward(q, t->model, &w, &k.in, pooled, &k.scratch, &in);
    nn_decoder_forward(q, t->model, &w, &k.out, &k.scratch, &out);
    q->op->cross_entropy(q, k.out.logits,
                         &(struct gpu_loss){.rows = k.out.tokens,
                                            .cols = t->model->config.vocabulary,
                                            .target = k.out.label,
                                            .smoothing = (float)t->config.smoothing,
                                            .scale = 1 / (float)target_tokens(t),
                                            .loss = k.out.loss,
                                            .correct = k.out.correct});
    read_loss(q, s, &k, a);
    if (!gradients)
        return;
    nn_decoder_backward(q, gradients, t->model, &w, &k.out, &k.scratch, &out);
    nn_encoder_backward(q, gradients, k.scratch.dmemory, t->model, &w, &k.in, pooled, &k.scratch,
                        &in);
}

static void evaluate_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    if (t->shards[item].s.n)
        run_shard(t, &t->shards[item], NULL, q);
}

/* The groups are chains. */
static void differentiate_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    size_t groups = t->device->cuts.groups, group = item % groups, place = item / groups;
    struct nn_gradients gradients = trainer_gradients(t, q, group, place);
    struct shard *s = &t->shards[group * (t->n_shards / groups) + place];
    if (s->s.n)
        run_shard(t, s, &gradients, q);
}

/* Shards by the tokens of both sides. */
static enum err_code prepare(struct trainer *t, struct err *e)
{
    const struct examples *x = &t->batch;
    uint32_t *weight = arena_array(&t->arena, uint32_t, x->inputs.n + 1);
    for (size_t i = 0; i <= x->inputs.n; i++)
        weight[i] = x->inputs.offset[i] + x->targets.offset[i] + (uint32_t)i;
    trainer_cut(t, weight);
    t->region = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct arena_mark mark = arena_mark(&t->arena);
        struct gpu_layout l = {0};
        struct workspace k;
        lay_out(&k, t, &t->shards[i], &l, &t->arena);
        arena_release(&t->arena, mark);
        t->region = l.used > t->region ? l.used : t->region;
    }
    return err_up(e, trainer_reserve(t, t->region * t->device->queues, e));
}

static void sum_up(struct step_result *r, const struct trainer *t)
{
    double n = (double)target_tokens(t);
    for (size_t i = 0; i < t->n_shards; i++) {
        r->loss += t->shards[i].loss / n;
        r->accuracy += t->shards[i].correct / n;
    }
    r->tokens = t->batch.inputs.offset[t->batch.inputs.n] + target_tokens(t);
}

static enum err_code evaluate(struct step_result *r, struct trainer *t, struct err *e)
{
    enum err_code code = err_up(e, prepare(t, e));
    if (!code)
        code = err_up(e, gpu_each(t->queue, t->n_shards, evaluate_shard, t, e));
    if (!code)
        sum_up(r, t);
    return code;
}

static enum err_code differentiate(struct step_result *r, struct trainer *t, struct err *e)
{
    enum err_code code = err_up(e, prepare(t, e));
    if (!code)
        code = err_up(e, gpu_each_in_chains(t->queue, t->n_shards, t->device->cuts.groups,
                                            differentiate_shard, t, e));
    if (!code)
        sum_up(r, t);
    return code;
}

const struct objective objective_seq2seq = {evaluate, differentiate};
