/* Sequence to sequence: the mean cross entropy of all target tokens, the end included, given the
 * tokens before them and the input.
 *
 * The examples of a batch are coupled only by the number of its tokens, so each shard is processed
 * from start to end in the memory of its queue, and the size of a batch is not limited by
 * memory. */
#include "ops/learn/transformer/transformer_step.h"
#include "ops/nn/transformer/transformer.h"

/* A queue's data for one shard. */
struct workspace {
    struct nn_tape in;
    struct nn_decoder_tape out;
    struct nn_scratch scratch;
    struct nn_sequences fed; /* the targets, each preceded by START */
    uint32_t *label;         /* the same, each followed by END */
};

static void feed(struct workspace *k, const struct transformer *t, const struct shard *s,
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

/* `in_block` is for the batch's inputs. */
static void lay_out_shard(struct workspace *k, const struct transformer *t, const struct shard *s,
                          struct gpu_layout *in_block, struct gpu_layout *l, struct arena *a)
{
    feed(k, t, s, a);
    nn_tape_layout(&k->in, t->model, &s->s, t->type, true, NULL, in_block, l, a);
    nn_decoder_layout(&k->out, t->model, &k->fed, &k->in, t->type, in_block, l, a);
    size_t in = k->in.tokens, out = k->out.tokens;
    nn_scratch_layout(&k->scratch, t->model, t->type, in > out ? in : out, in, l);
}

static size_t target_tokens(const struct transformer *t)
{
    return t->batch.targets.offset[t->batch.targets.n] + t->batch.targets.n;
}

/* The decoder's dropout has other keys than the encoder's. */
static struct nn_dropout decoder_dropout(const struct transformer *t, const struct shard *s)
{
    uint64_t first = t->batch.targets.offset[s->first] + s->first;
    struct nn_dropout drop = transformer_dropout(t, first);
    drop.key = ~drop.key;
    return drop;
}

/* Computes forward and loss; also backward, into `gradients`, unless that is NULL. */
static void run_shard(struct transformer *t, struct shard *s, float *gradients, struct gpu_queue *q)
{
    struct arena *a = &t->work[q->index];
    struct workspace k;
    char *memory = t->regions + q->index * t->region;
    struct gpu_layout in_block = {.base = memory}, l = {.base = memory + s->input};
    struct nn_weights w = transformer_weights(t);
    struct nn_dropout in = transformer_dropout(t, t->batch.inputs.offset[s->first]);
    struct nn_dropout out = decoder_dropout(t, s);
    bool pooled = nn_memory_is_pooled(t->model);
    arena_reset(a);
    lay_out_shard(&k, t, s, &in_block, &l, a);
    struct nn_block block = nn_block_new(s->input, a);
    block.device = memory;
    nn_tape_load(&block, &k.in, t->model, &s->s);
    nn_decoder_load(&block, &k.out, &k.fed, k.label);
    gpu_write(q, memory, block.host, block.bytes);
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
    q->op->sum_losses(q, t->base.sums.at + 2 * (s - t->shards), k.out.loss, k.out.correct,
                      k.out.tokens, 1);
    if (!gradients)
        return;
    nn_decoder_backward(q, gradients, t->model, &w, &k.out, &k.scratch, &out);
    nn_encoder_backward(q, gradients, k.scratch.dmemory, t->model, &w, &k.in, pooled, &k.scratch,
                        &in);
}

static void evaluate_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    if (t->shards[item].s.n)
        run_shard(t, &t->shards[item], NULL, q);
}

/* Each group is a chain of shards. */
static void differentiate_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    size_t groups = t->base.n_groups, group = item % groups, place = item / groups;
    struct shard *s = &t->shards[group * (t->n_shards / groups) + place];
    if (s->s.n)
        run_shard(t, s, t->base.groups[group], q);
}

/* Cuts shards by the tokens of inputs and targets, and finds the memory that the largest needs. */
static size_t cut(void *self)
{
    struct transformer *t = self;
    struct arena *a = &t->base.arena;
    transformer_take(t);
    const struct examples *x = &t->batch;
    uint32_t *weight = arena_array(a, uint32_t, x->inputs.n + 1);
    for (size_t i = 0; i <= x->inputs.n; i++)
        weight[i] = x->inputs.offset[i] + x->targets.offset[i] + (uint32_t)i;
    transformer_cut(t, weight);
    t->region = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct arena_mark mark = arena_mark(a);
        struct gpu_layout in = {0}, l = {0};
        struct workspace k;
        lay_out_shard(&k, t, &t->shards[i], &in, &l, a);
        arena_release(a, mark);
        t->shards[i].input = in.used;
        t->region = in.used + l.used > t->region ? in.used + l.used : t->region;
    }
    return t->config.examples.batch;
}

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct transformer *t = self;
    double *sums = gpu_carve(l, t->n_shards * 2 * sizeof *sums);
    t->base.sums = (struct loss_sums){sums, t->n_shards, (double)target_tokens(t)};
    t->regions = gpu_carve(l, t->region * t->base.device->queues);
}

static enum err_code load(void *self, const struct nn_block *inputs, struct err *e)
{
    struct transformer *t = self;
    t->base.tokens = t->batch.inputs.offset[t->batch.inputs.n] + target_tokens(t);
    /* also 0 as doubles; shards may be empty */
    t->base.queue->op->fill(t->base.queue, (float *)t->base.sums.at, t->n_shards * 4, 0);
    return OK;
}

/* Each shard also computes its loss, and in training its backward. */
static enum err_code forward(void *self, struct err *e)
{
    struct transformer *t = self;
    return err_up(e, t->base.training
                         ? gpu_each_in_chains(t->base.queue, t->n_shards, t->base.n_groups,
                                              differentiate_shard, t, e)
                         : gpu_each(t->base.queue, t->n_shards, evaluate_shard, t, e));
}

const struct network network_seq2seq = {.size = sizeof(struct transformer),
                                        .ahead = true,
                                        .open = transformer_open,
                                        .close = transformer_close,
                                        .cut = cut,
                                        .lay_out = lay_out,
                                        .load = load,
                                        .forward = forward};
