/* Objectives that compare vectors. Scores are cosines divided by the temperature, or MaxSim scores
 * (maxsim.c).
 *
 * - InfoNCE: for each of the 2B vectors of B pairs the cross entropy of its positive against all
 *   vectors of other clusters and all near misses, as in SimCLR; with K negatives per pair, for
 *   each anchor that of its positive against these.
 * - triplet: the mean of max(0, margin - score of the positive + score of the negative).
 * - siamese: the mean of max(0, margin - score) over positives and of max(0, margin + score) over
 *   negatives; both hinges may be squared.
 * - histogram: the probability that a negative's score exceeds a positive's, from the histograms of
 *   all scores: the only loss whose rows depend on each other. */
#include "ops/learn/transformer/transformer_step.h"
#include "ops/nn/linear.h"

#include <string.h>

static bool own_negatives(const struct transformer *t)
{
    return t->config.examples.negatives > 0;
}

static bool histogram(const struct transformer *t)
{
    return t->config.examples.objective == OBJECTIVE_HISTOGRAM;
}

static size_t n_blocks(const struct transformer *t)
{
    size_t rows = t->base.device->cuts.loss_rows;
    return (t->c.rows + rows - 1) / rows;
}

static void lay_out_loss(struct transformer *t, struct gpu_layout *in, struct gpu_layout *l)
{
    struct contrastive *c = &t->c;
    size_t n = t->batch.inputs.n, d = t->model->config.d_model;
    c->rows = own_negatives(t) ? t->config.examples.batch : 2 * t->config.examples.batch;
    c->scored = t->config.swap ? 2 * c->rows : c->rows; /* positives follow the anchors */
    size_t vectors = t->config.maxsim ? t->batch.inputs.offset[n] : n;
    c->vectors = t->config.maxsim ? NULL : gpu_carve_floats(l, n * d);
    c->units = gpu_carve_floats(l, vectors * d);
    c->dvectors = gpu_carve_floats(l, vectors * d);
    c->norms = gpu_carve_floats(l, vectors);
    c->scores = gpu_carve_floats(l, c->scored * n);
    t->base.sums = (struct loss_sums){gpu_carve(l, 2 * sizeof(double)), 1, 1};
    c->loss = gpu_carve_floats(l, c->rows);
    c->correct = gpu_carve_floats(l, c->rows);
    c->target = gpu_carve(in, c->rows * sizeof(uint32_t));
    c->group = gpu_carve(in, n * sizeof(uint32_t));
    if (histogram(t))
        c->bins = gpu_carve(l, n_blocks(t) * 2 * GPU_BINS * sizeof(double));
}

static size_t cut(void *self)
{
    struct transformer *t = self;
    transformer_take(t);
    transformer_cut(t, t->batch.inputs.offset);
    transformer_share(t);
    return t->config.examples.batch;
}

/* Lays out the loss's buffers and the tapes. */
static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct transformer *t = self;
    lay_out_loss(t, in, l);
    transformer_share_layout(t, in, l);
    size_t max = transformer_share_rows(t), d = t->model->config.d_model;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct shard *s = &t->shards[i];
        size_t tokens = s->s.offset[s->s.n], first = t->batch.inputs.offset[s->first];
        struct nn_attend_tape tape = transformer_share_tape(t, first);
        max = tokens > max ? tokens : max;
        nn_tape_layout(&s->tape, t->model, &s->s, t->type, true, t->shared.first ? &tape : NULL, in,
                       l, &t->base.arena);
        s->tape.row = t->shared.row ? t->shared.row + first : NULL;
        s->tape.pooled = t->c.vectors ? t->c.vectors + s->first * d : NULL; /* NULL while sizing */
    }
    if (t->config.maxsim)
        maxsim_layout(t, in, l);
    for (unsigned i = 0; i < t->base.device->queues; i++)
        nn_scratch_layout(&t->scratch[i], t->model, t->type, max, 0, l);
}

static void load_loss(struct transformer *t, const struct nn_block *in)
{
    size_t n = t->c.rows, half = t->config.examples.negatives ? n : n / 2;
    uint32_t *target = nn_host(in, t->c.target);
    for (size_t i = 0; i < n; i++)
        target[i] = (uint32_t)((i + half) % (2 * half));
    memcpy(nn_host(in, t->c.group), t->batch.group, t->batch.inputs.n * sizeof *t->batch.group);
}

static enum err_code load(void *self, const struct nn_block *inputs, struct err *e)
{
    struct transformer *t = self;
    for (size_t i = 0; i < t->n_shards; i++)
        nn_tape_load(inputs, &t->shards[i].tape, t->model, &t->shards[i].s);
    load_loss(t, inputs);
    if (t->config.maxsim)
        maxsim_load(t, inputs);
    transformer_share_load(t, inputs);
    gpu_write(t->base.queue, inputs->device, inputs->host, inputs->bytes);
    return OK;
}

/* ---- work items ---- */

static void forward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    struct shard *s = &t->shards[item];
    size_t d = t->model->config.d_model;
    struct nn_weights w = transformer_weights(t);
    struct nn_dropout drop = transformer_dropout(t, t->batch.inputs.offset[s->first]);
    if (s->s.n == 0)
        return;
    bool pooled = !t->config.maxsim;
    size_t first = pooled ? s->first : t->batch.inputs.offset[s->first];
    nn_encoder_forward(q, t->model, &w, &s->tape, pooled, &t->scratch[q->index], &drop);
    q->op->normalize(q, t->c.units + first * d, t->c.norms + first,
                     pooled ? s->tape.pooled : s->tape.final.out, pooled ? s->s.n : s->tape.tokens,
                     d);
}

/* Computes the scores of `rows` vectors from `first` on with all vectors. */
static float *score_rows(const struct transformer *t, size_t first, size_t rows,
                         struct gpu_queue *q)
{
    const struct contrastive *c = &t->c;
    size_t n = t->batch.inputs.n, d = t->model->config.d_model;
    float *scores = c->scores + first * n;
    if (t->config.maxsim) /* already computed */
        return scores;
    product(q, "nt", scores, c->units + first * d, c->units, rows, n, d,
            (float)(1 / t->config.temperature), 0, GPU_F32);
    return scores;
}

/* Returns block `item` of rows as input of the loss ops. */
static struct gpu_loss rows_of(const struct transformer *t, size_t item)
{
    const struct contrastive *c = &t->c;
    size_t most = t->base.device->cuts.loss_rows, first = item * most;
    return (struct gpu_loss){
        .rows = c->rows - first < most ? c->rows - first : most,
        .cols = t->batch.inputs.n,
        .first_row = first,
        .target = c->target,
        .group = c->group,
        .self = true,
        .own = own_negatives(t),
        .margin = (float)t->config.margin,
        .squared = t->config.squared,
        .euclidean = t->config.euclidean,
        .scale = 1 / (float)c->rows,
        .loss = c->loss + first,
        .correct = c->correct + first,
    };
}

static void loss_rows(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    struct gpu_loss ce = rows_of(t, item);
    float *scores = score_rows(t, ce.first_row, ce.rows, q);
    if (t->config.swap)
        ce.swapped = score_rows(t, t->c.rows + ce.first_row, ce.rows, q);
    switch (t->config.examples.objective) {
    case OBJECTIVE_CONTRASTIVE:
    case OBJECTIVE_SIMCSE: q->op->cross_entropy(q, scores, &ce); break;
    case OBJECTIVE_TRIPLET: q->op->triplet_loss(q, scores, &ce); break;
    case OBJECTIVE_SIAMESE: q->op->siamese_loss(q, scores, &ce); break;
    case OBJECTIVE_HISTOGRAM:
        q->op->histogram(q, t->c.bins + item * 2 * GPU_BINS, scores, &ce);
        break;
    case OBJECTIVE_SEQ2SEQ:
    case OBJECTIVE_AUTOENCODE: break; /* do not compare vectors */
    }
}

static void histogram_rows(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    struct gpu_loss ce = rows_of(t, item);
    ce.scale = 1;
    q->op->histogram_back(q, t->c.scores + ce.first_row * ce.cols, t->c.bins, &ce);
}

/* Scores are u_i . u_j / temperature, so if G is their gradient, that of u is (G u + G^T u) /
 * temperature; G only has rows for the first vectors. Computes the shard's part. */
static void back_to_vectors(struct transformer *t, const struct shard *s, struct gpu_queue *q)
{
    const struct contrastive *c = &t->c;
    size_t n = t->batch.inputs.n, d = t->model->config.d_model;
    size_t rows = shard_scored(t, s);
    float *du = c->dvectors + s->first * d, by = (float)(1 / t->config.temperature);
    q->op->fill(q, du + rows * d, (s->s.n - rows) * d, 0);
    if (rows)
        product(q, "nn", du, c->scores + s->first * n, c->units, rows, d, n, by, 0, GPU_F32);
    q->op->matmul(q, &(struct gpu_matmul){.ta = true,
                                          .m = s->s.n,
                                          .n = d,
                                          .k = c->scored,
                                          .alpha = by,
                                          .beta = 1,
                                          .a = c->scores + s->first,
                                          .lda = n,
                                          .b = c->units,
                                          .ldb = d,
                                          .c = du,
                                          .ldc = d});
    q->op->normalize_back(q, du, du, c->units + s->first * d, c->norms + s->first, s->s.n, d);
}

/* Each group is a chain of shards. */
static void backward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct transformer *t = arg;
    size_t groups = t->base.n_groups, group = item % groups, place = item / groups;
    struct nn_weights w = transformer_weights(t);
    struct shard *s = &t->shards[group * (t->n_shards / groups) + place];
    struct nn_dropout drop = transformer_dropout(t, t->batch.inputs.offset[s->first]);
    if (s->s.n == 0)
        return;
    bool pooled = !t->config.maxsim;
    size_t first = pooled ? s->first : t->batch.inputs.offset[s->first];
    if (pooled)
        back_to_vectors(t, s, q);
    else
        maxsim_back_to_states(t, s, q);
    nn_encoder_backward(q, t->base.groups[group], t->c.dvectors + first * t->model->config.d_model,
                        t->model, &w, &s->tape, pooled, &t->scratch[q->index], &drop);
}

/* ---- the network ---- */

static enum err_code forward(void *self, struct err *e)
{
    struct transformer *t = self;
    t->base.tokens = t->batch.inputs.offset[t->batch.inputs.n];
    enum err_code code = transformer_share_forward(t, e);
    return err_up(e, code ? code : gpu_each(t->base.queue, t->n_shards, forward_shard, t, e));
}

static enum err_code loss(void *self, struct err *e)
{
    struct transformer *t = self;
    const struct contrastive *c = &t->c;
    struct gpu_queue *q = t->base.queue;
    bool maxsim = t->config.maxsim, bins = histogram(t);
    enum err_code code;
    if ((maxsim && (code = gpu_each(q, t->n_shards, maxsim_forward, t, e))) ||
        (code = gpu_each(q, n_blocks(t), loss_rows, t, e)))
        return err_up(e, code);
    q->op->sum_losses(q, t->base.sums.at, bins ? NULL : c->loss, c->correct, c->rows,
                      (double)c->rows);
    if (bins)
        q->op->histogram_loss(q, c->bins, t->base.sums.at, n_blocks(t));
    if ((bins && (code = gpu_each(q, n_blocks(t), histogram_rows, t, e))) ||
        (maxsim && t->base.training &&
         (code = gpu_each(q, t->n_shards, maxsim_back_to_maxima, t, e))))
        return err_up(e, code);
    return OK;
}

static enum err_code backward(void *self, struct err *e)
{
    struct transformer *t = self;
    enum err_code code =
        gpu_each_in_chains(t->base.queue, t->n_shards, t->base.n_groups, backward_shard, t, e);
    return err_up(e, code ? code : transformer_share_backward(t, e));
}

const struct network network_contrastive = {.size = sizeof(struct transformer),
                                            .ahead = true,
                                            .open = transformer_open,
                                            .close = transformer_close,
                                            .cut = cut,
                                            .lay_out = lay_out,
                                            .load = load,
                                            .forward = forward,
                                            .loss = loss,
                                            .backward = backward};
