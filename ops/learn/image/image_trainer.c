#include "ops/learn/image/image_trainer.h"

#include "ops/nn/batch_norm.h"

#include <string.h>

struct image_shard {
    size_t first; /* index in the batch */
    struct image_tape tape;
};

struct image_trainer {
    struct trained base;
    struct gpu_queue *queue; /* borrowed */
    const struct image_model *model;
    struct image_trainer_config config;
    float *statistics; /* host: a norm's running mean and variance, (IMAGE_VECTOR) each */
    struct batch_norm norm;
    struct image_shard *shards;
    size_t n_shards;
    struct image_end end;
    struct image_scratch *scratch; /* by queue */
};

/* ---- life ---- */

/* Label vectors start shorter if they are multiplied by unscaled vectors. */
static enum err_code shorten_labels(struct image_trainer *t, struct err *e)
{
    size_t n = (size_t)t->model->config.labels * IMAGE_VECTOR;
    float *w = arena_array(&t->base.arena, float, n + 1), *at = t->base.weights + t->model->labels;
    gpu_read(t->queue, w, at, n * sizeof *w);
    enum err_code code = gpu_finish(t->queue, e);
    for (size_t i = 0; i < n; i++)
        w[i] *= 0.1F;
    gpu_write(t->queue, at, w, n * sizeof *w);
    return err_up(e, code ? code : gpu_finish(t->queue, e));
}

static enum err_code set_up(struct image_trainer *t, struct gpu_device *device, struct err *e)
{
    const struct nn_table *table = &t->model->table;
    struct arena *own = &t->base.own;
    enum err_code code =
        trained_open(&t->base, device, table, table->total, table->total, t->config.seed, e);
    if (code)
        return err_up(e, code);
    t->queue = t->base.queue;
    t->scratch = arena_array(own, struct image_scratch, device->queues);
    batch_norm_alloc(&t->norm, own, IMAGE_VECTOR);
    t->statistics = arena_array(own, float, 2 * IMAGE_VECTOR);
    for (size_t i = IMAGE_VECTOR; i < 2 * IMAGE_VECTOR; i++)
        t->statistics[i] = 1;
    bool all_labels = t->config.task == IMAGE_LABELS && t->config.all_negatives;
    return all_labels ? err_up(e, shorten_labels(t, e)) : OK;
}

enum err_code image_trainer_new(void *out, struct gpu_device *device,
                                const struct image_model *model,
                                const struct image_trainer_config *c, struct err *e)
{
    struct image_trainer *t = must_calloc(1, sizeof *t);
    t->model = model;
    t->config = *c;
    return err_up(e, trained_give(out, t, set_up(t, device, e), e));
}

enum err_code image_trainer_write(void *trainer, const struct trainer_state *state, struct err *e)
{
    struct image_trainer *t = trainer;
    const struct image_model *m = t->model;
    if (m->norm) {
        memcpy(t->statistics, state->weights + m->mean, IMAGE_VECTOR * sizeof(float));
        memcpy(t->statistics + IMAGE_VECTOR, state->weights + m->variance,
               IMAGE_VECTOR * sizeof(float));
    }
    return err_up(e, trained_write(t, state, e));
}

/* ---- forward ---- */

static void lay_out(struct image_trainer *t, size_t n, bool training, struct gpu_layout *l)
{
    size_t most = 0, per_shard = t->base.device->cuts.shard_images;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct image_shard *s = &t->shards[i];
        s->first = i * per_shard;
        size_t images = n - s->first < per_shard ? n - s->first : per_shard;
        most = images > most ? images : most;
        image_tape_layout(&s->tape, t->model, images, training, l);
    }
    for (unsigned i = 0; i < t->base.device->queues; i++)
        image_scratch_layout(&t->scratch[i], t->model, most, l);
    image_end_layout(&t->end, t->model, n, l);
}

static enum err_code prepare(struct image_trainer *t, size_t n, bool training, struct err *e)
{
    struct gpu_layout l = {0};
    size_t per_shard = t->base.device->cuts.shard_images;
    t->n_shards = n / per_shard + (n % per_shard > 0);
    t->shards = arena_array(&t->base.arena, struct image_shard, t->n_shards);
    lay_out(t, n, training, &l);
    enum err_code code = trained_reserve(&t->base, l.used, n, "images", e);
    if (code)
        return err_up(e, code);
    l = (struct gpu_layout){.base = t->base.memory};
    lay_out(t, n, training, &l);
    return OK;
}

static void write_images(struct image_trainer *t, const struct image_batch *x)
{
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct image_shard *s = &t->shards[i];
        struct arena_mark mark = arena_mark(&t->base.arena);
        float *ink = arena_array(&t->base.arena, float, s->tape.images *IMAGE_PIXELS);
        for (size_t k = 0; k < s->tape.images; k++)
            image_ink(ink + k * IMAGE_PIXELS, x->pixels[s->first + k], IMAGE_PIXELS);
        gpu_write(t->queue, s->tape.x, ink, s->tape.images * IMAGE_PIXELS * sizeof *ink);
        arena_release(&t->base.arena, mark);
    }
}

static void forward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct image_trainer *t = arg;
    const struct image_shard *s = &t->shards[item];
    image_forward(q, t->end.features + s->first * IMAGE_VECTOR, t->model, t->base.weights, &s->tape,
                  &t->scratch[q->index], t->config.precision);
}

/* Returns true if the norm uses the batch's statistics. */
static bool of_batch(const struct image_trainer *t, bool training)
{
    return training && t->base.steps < t->config.frozen_from;
}

static void read_sums(struct image_trainer *t, double *sums)
{
    gpu_read(t->queue, sums, t->end.sums, 2 * IMAGE_VECTOR * sizeof *sums);
}

static enum err_code end_forward(struct image_trainer *t, bool training, struct err *e)
{
    double sums[2 * IMAGE_VECTOR];
    struct gpu_queue *q = t->queue;
    enum err_code code;
    if (of_batch(t, training)) {
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
static enum err_code forward(struct image_trainer *t, const struct image_batch *x, bool training,
                             struct err *e)
{
    arena_reset(&t->base.arena);
    enum err_code code =
        prepare(t, image_views(t->config.task, t->config.all_negatives) * x->examples, training, e);
    if (code)
        return err_up(e, code);
    write_images(t, x);
    if ((code = gpu_each(t->queue, t->n_shards, forward_shard, t, e)))
        return err_up(e, code);
    return t->model->norm ? err_up(e, end_forward(t, training, e)) : OK;
}

/* ---- loss ---- */

/* Computes loss and accuracy. If labels_gradient is not NULL, writes the labels' gradient there and
 * replaces the vectors by theirs. */
static enum err_code losses(struct step_result *r, float *labels_gradient, struct image_trainer *t,
                            const struct image_batch *x, bool training, struct err *e)
{
    const struct image_model *m = t->model;
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
    gpu_read(t->queue, vectors, t->end.vectors, n * sizeof *vectors);
    gpu_read(t->queue, labels, t->base.weights + m->labels, n_labels * sizeof *labels);
    enum err_code code = gpu_finish(t->queue, e);
    if (code)
        return err_up(e, code);
    struct image_score s =
        image_loss(vectors, IMAGE_VECTOR, &how, labels, labels_gradient, training, a);
    r->loss = s.loss;
    r->accuracy = s.accuracy;
    r->tokens = t->end.n;
    if (training)
        gpu_write(t->queue, t->end.vectors, vectors, n * sizeof *vectors);
    return OK;
}

enum err_code image_trainer_measure(struct step_result *r, struct image_trainer *t,
                                    const struct image_batch *x, struct err *e)
{
    *r = (struct step_result){0};
    enum err_code code = forward(t, x, false, e);
    return err_up(e, code ? code : losses(r, NULL, t, x, false, e));
}

/* ---- backward ---- */

static void backward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct image_trainer *t = arg;
    const struct image_shard *s = &t->shards[item];
    image_backward(q, t->base.groups[item % t->base.n_groups],
                   t->end.features + s->first * IMAGE_VECTOR, t->model, t->base.weights, &s->tape,
                   &t->scratch[q->index], t->config.precision);
}

static enum err_code end_backward(struct image_trainer *t, struct err *e)
{
    double sums[2 * IMAGE_VECTOR];
    struct gpu_queue *q = t->queue;
    image_end_backward(q, t->base.groups[0], t->model, t->base.weights, &t->end,
                       t->config.precision);
    read_sums(t, sums);
    enum err_code code = gpu_finish(q, e);
    if (code)
        return err_up(e, code);
    if (of_batch(t, true)) /* else they are constants with gradient 0 */
        batch_norm_back(&t->norm, sums, t->end.n, IMAGE_VECTOR);
    gpu_write(q, t->end.back, t->norm.back, IMAGE_VECTOR * sizeof(float));
    gpu_write(q, t->end.back_shift, t->norm.back_shift, IMAGE_VECTOR * sizeof(float));
    image_end_norm_back(q, &t->end);
    return OK;
}

enum err_code image_trainer_differentiate(struct step_result *r, struct image_trainer *t,
                                          const struct image_batch *x, struct err *e)
{
    const struct image_model *m = t->model;
    size_t labels = (size_t)m->config.labels * IMAGE_VECTOR;
    uint64_t steps = t->base.steps;
    enum err_code code;
    *r = (struct step_result){.step = steps + 1, .lr = schedule_lr(&t->config.schedule, steps)};
    if ((code = err_up(e, forward(t, x, true, e))))
        return code;
    float *dlabels = arena_array(&t->base.arena, float, labels + 1);
    if ((code = err_up(e, losses(r, dlabels, t, x, true, e))) ||
        (code = err_up(e, trained_clear(&t->base, e))) ||
        (m->norm && (code = err_up(e, end_backward(t, e)))) ||
        (code = err_up(e, gpu_each_in_chains(t->queue, t->n_shards, t->base.n_groups,
                                             backward_shard, t, e))) ||
        (code = err_up(e, trained_reduce(&t->base, e))))
        return code;
    gpu_write(t->queue, t->base.groups[0] + m->labels, dlabels, labels * sizeof *dlabels);
    return err_up(e, trained_norm(&r->gradient_norm, &t->base, e));
}

/* ---- the step ---- */

static void move_running(struct image_trainer *t)
{
    const struct image_model *m = t->model;
    float *mean = t->statistics, *variance = mean + IMAGE_VECTOR;
    batch_norm_move(mean, variance, &t->norm, t->end.n, IMAGE_VECTOR);
    gpu_write(t->queue, t->base.weights + m->mean, mean, IMAGE_VECTOR * sizeof *mean);
    gpu_write(t->queue, t->base.weights + m->variance, variance, IMAGE_VECTOR * sizeof *mean);
}

enum err_code image_trainer_step(struct step_result *r, struct image_trainer *t,
                                 const struct image_batch *x, struct err *e)
{
    bool moves = t->model->norm && of_batch(t, true);
    enum err_code code = image_trainer_differentiate(r, t, x, e);
    if (code || (code = trained_update(&t->base, r, e)))
        return err_up(e, code);
    if (moves)
        move_running(t);
    return err_up(e, gpu_finish(t->queue, e));
}
