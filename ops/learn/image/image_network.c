#include "ops/learn/image/image_network.h"

#include "ops/nn/batch_norm.h"

#include <string.h>

struct image_shard {
    size_t first; /* index in the batch */
    struct image_tape tape;
};

struct image_network {
    struct trainer base;
    const struct image_model *model;
    struct image_training config;
    const struct image_batch *batch;
    float *statistics; /* host: a norm's running mean and variance, (IMAGE_VECTOR) each */
    struct batch_norm norm;
    struct image_shard *shards;
    size_t n, n_shards; /* n: images */
    struct image_end end;
    struct image_scratch *scratch; /* by queue */
    float *dlabels;                /* host: the gradient of the labels' vectors */
};

/* ---- life ---- */

/* Label vectors start shorter if they are multiplied by unscaled vectors. */
static void initialise(float *weights, void *self)
{
    const struct image_network *t = self;
    bool shorter = t->config.task == IMAGE_LABELS && t->config.all_negatives;
    size_t n = shorter ? (size_t)t->model->config.labels * IMAGE_VECTOR : 0;
    for (size_t i = 0; i < n; i++)
        weights[t->model->labels + i] *= 0.1F;
}

static enum err_code open(void *self, struct err *e)
{
    struct image_network *t = self;
    struct arena *own = &t->base.own;
    t->scratch = arena_array(own, struct image_scratch, t->base.device->queues);
    batch_norm_alloc(&t->norm, own, IMAGE_VECTOR);
    t->statistics = arena_array(own, float, 2 * IMAGE_VECTOR);
    for (size_t i = IMAGE_VECTOR; i < 2 * IMAGE_VECTOR; i++)
        t->statistics[i] = 1;
    return OK;
}

static void replaced(void *self, const float *weights)
{
    struct image_network *t = self;
    const struct image_model *m = t->model;
    if (!m->norm)
        return;
    memcpy(t->statistics, weights + m->mean, IMAGE_VECTOR * sizeof(float));
    memcpy(t->statistics + IMAGE_VECTOR, weights + m->variance, IMAGE_VECTOR * sizeof(float));
}

/* ---- forward ---- */

static size_t cut(void *self)
{
    struct image_network *t = self;
    size_t per_shard = t->base.device->cuts.shard_images;
    t->batch = t->base.batch;
    t->n = image_views(t->config.task, t->config.all_negatives) * t->batch->examples;
    t->n_shards = t->n / per_shard + (t->n % per_shard > 0);
    t->shards = arena_array(&t->base.arena, struct image_shard, t->n_shards);
    return t->batch->examples;
}

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct image_network *t = self;
    size_t most = 0, per_shard = t->base.device->cuts.shard_images;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct image_shard *s = &t->shards[i];
        s->first = i * per_shard;
        size_t images = t->n - s->first < per_shard ? t->n - s->first : per_shard;
        most = images > most ? images : most;
        image_tape_layout(&s->tape, t->model, images, t->base.training, l);
    }
    for (unsigned i = 0; i < t->base.device->queues; i++)
        image_scratch_layout(&t->scratch[i], t->model, most, l);
    image_end_layout(&t->end, t->model, t->n, l);
}

static enum err_code load(void *self, const struct nn_block *inputs, struct err *e)
{
    struct image_network *t = self;
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct image_shard *s = &t->shards[i];
        struct arena_mark mark = arena_mark(&t->base.arena);
        float *ink = arena_array(&t->base.arena, float, s->tape.images *IMAGE_PIXELS);
        for (size_t k = 0; k < s->tape.images; k++)
            image_ink(ink + k * IMAGE_PIXELS, t->batch->pixels[s->first + k], IMAGE_PIXELS);
        gpu_write(t->base.queue, s->tape.x, ink, s->tape.images * IMAGE_PIXELS * sizeof *ink);
        arena_release(&t->base.arena, mark);
    }
    return OK;
}

static void forward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct image_network *t = arg;
    const struct image_shard *s = &t->shards[item];
    image_forward(q, t->end.features + s->first * IMAGE_VECTOR, t->model, t->base.weights, &s->tape,
                  &t->scratch[q->index], t->base.config.precision);
}

/* Returns true if the norm uses the batch's statistics. */
static bool of_batch(const struct image_network *t)
{
    return t->base.training && t->base.steps < t->config.frozen_from;
}

static void read_sums(struct image_network *t, double *sums)
{
    gpu_read(t->base.queue, sums, t->end.sums, 2 * IMAGE_VECTOR * sizeof *sums);
}

static enum err_code end_forward(struct image_network *t, struct err *e)
{
    double sums[2 * IMAGE_VECTOR];
    struct gpu_queue *q = t->base.queue;
    enum err_code code;
    if (of_batch(t)) {
        image_end_sums(q, &t->end);
        read_sums(t, sums);
        if ((code = gpu_finish(q, e)))
            return err_up(e, code);
        batch_norm_of_sums(&t->norm, sums, t->end.n, IMAGE_VECTOR);
    } else {
        batch_norm_running(&t->norm, t->statistics, t->statistics + IMAGE_VECTOR, IMAGE_VECTOR);
    }
    gpu_write(q, t->end.factor, t->norm.factor, IMAGE_VECTOR * sizeof(float));
    gpu_write(q, t->end.shift, t->norm.shift, IMAGE_VECTOR * sizeof(float));
    image_end_forward(q, t->model, t->base.weights, &t->end, t->config.precision);
    return OK;
}

/* Computes t->end.vectors. */
static enum err_code forward(void *self, struct err *e)
{
    struct image_network *t = self;
    enum err_code code = gpu_each(t->base.queue, t->n_shards, forward_shard, t, e);
    if (!code && t->model->norm)
        code = end_forward(t, e);
    return err_up(e, code);
}

/* ---- loss ---- */

static enum err_code loss(void *self, struct err *e)
{
    struct image_network *t = self;
    const struct image_model *m = t->model;
    const struct image_batch *x = t->batch;
    bool training = t->base.training;
    struct arena *a = &t->base.arena;
    size_t n = t->end.n * IMAGE_VECTOR, n_labels = (size_t)m->config.labels * IMAGE_VECTOR;
    struct image_loss how = {.task = t->config.task,
                             .all_negatives = t->config.all_negatives,
                             .linear = t->config.linear,
                             .swap = !training || t->base.steps >= t->config.swap_from,
                             .margin = t->config.margin,
                             .batch = x->examples,
                             .labels = m->config.labels,
                             .odds = x->odds,
                             .truth = x->truth};
    float *vectors = arena_array(a, float, n), *labels = arena_array(a, float, n_labels + 1);
    t->dlabels = arena_array(a, float, n_labels + 1);
    gpu_read(t->base.queue, vectors, t->end.vectors, n * sizeof *vectors);
    gpu_read(t->base.queue, labels, t->base.weights + m->labels, n_labels * sizeof *labels);
    enum err_code code = gpu_finish(t->base.queue, e);
    if (code)
        return err_up(e, code);
    struct image_score s = image_loss(vectors, IMAGE_VECTOR, &how, labels, t->dlabels, training, a);
    trainer_set_loss(t, s.loss, s.accuracy);
    t->base.tokens = t->end.n;
    if (training)
        gpu_write(t->base.queue, t->end.vectors, vectors, n * sizeof *vectors);
    return OK;
}

/* ---- backward ---- */

static void backward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct image_network *t = arg;
    const struct image_shard *s = &t->shards[item];
    image_backward(q, t->base.groups[item % t->base.n_groups],
                   t->end.features + s->first * IMAGE_VECTOR, t->model, t->base.weights, &s->tape,
                   &t->scratch[q->index], t->config.precision);
}

static enum err_code end_backward(struct image_network *t, struct err *e)
{
    double sums[2 * IMAGE_VECTOR];
    struct gpu_queue *q = t->base.queue;
    image_end_backward(q, t->base.groups[0], t->model, t->base.weights, &t->end,
                       t->config.precision);
    read_sums(t, sums);
    enum err_code code = gpu_finish(q, e);
    if (code)
        return err_up(e, code);
    if (of_batch(t)) /* else they are constants with gradient 0 */
        batch_norm_back(&t->norm, sums, t->end.n, IMAGE_VECTOR);
    gpu_write(q, t->end.back, t->norm.back, IMAGE_VECTOR * sizeof(float));
    gpu_write(q, t->end.back_shift, t->norm.back_shift, IMAGE_VECTOR * sizeof(float));
    image_end_norm_back(q, &t->end);
    return OK;
}

static enum err_code backward(void *self, struct err *e)
{
    struct image_network *t = self;
    enum err_code code = t->model->norm ? end_backward(t, e) : OK;
    return err_up(e, code ? code
                          : gpu_each_in_chains(t->base.queue, t->n_shards, t->base.n_groups,
                                               backward_shard, t, e));
}

static enum err_code summed(void *self, struct err *e)
{
    struct image_network *t = self;
    gpu_write(t->base.queue, t->base.groups[0] + t->model->labels, t->dlabels,
              (size_t)t->model->config.labels * IMAGE_VECTOR * sizeof *t->dlabels);
    return OK;
}

/* The step was counted before. */
static void move_running(void *self)
{
    struct image_network *t = self;
    const struct image_model *m = t->model;
    float *mean = t->statistics, *variance = mean + IMAGE_VECTOR;
    if (!m->norm || t->base.steps > t->config.frozen_from)
        return;
    batch_norm_move(mean, variance, &t->norm, t->end.n, IMAGE_VECTOR);
    gpu_write(t->base.queue, t->base.weights + m->mean, mean, IMAGE_VECTOR * sizeof *mean);
    gpu_write(t->base.queue, t->base.weights + m->variance, variance, IMAGE_VECTOR * sizeof *mean);
}

static const struct network network = {.size = sizeof(struct image_network),
                                       .initialise = initialise,
                                       .open = open,
                                       .cut = cut,
                                       .lay_out = lay_out,
                                       .load = load,
                                       .forward = forward,
                                       .loss = loss,
                                       .backward = backward,
                                       .summed = summed,
                                       .moved = move_running,
                                       .replaced = replaced};

enum err_code image_network_new(void *out, struct gpu_device *device,
                                const struct image_model *model, const struct image_training *c,
                                struct err *e)
{
    struct image_network *t = must_calloc(1, network.size);
    t->model = model;
    t->config = *c;
    struct trainer_config how = {.table = &model->table,
                                 .optimizer = c->optimizer,
                                 .precision = c->precision,
                                 .seed = c->seed};
    return err_up(e, trainer_open(out, t, &network, device, &how, e));
}
