#include "ops/learn/tree/tree_training.h"

#include "base/rng.h"
#include "ops/nn/linear.h"

#include <math.h>
#include <string.h>

enum stream { STREAM_WEIGHTS = 1, STREAM_DROPOUT, STREAM_NOISE, STREAM_HIDDEN };
enum { SHARD_NODES = 2048, SHARD_ROWS = 8192 }; /* approximate maxima; rows: of functions */

/* ---- life ---- */

static enum err_code set_up(struct tree_trainer *t, struct gpu_device *device, struct err *e)
{
    const struct nn_table *table = &t->model->table;
    struct arena *own = &t->base.own;
    float **parts[] = {&t->weights, &t->momentum, &t->squares, &t->used, &t->factor, &t->gradient};
    enum err_code code = trained_open(&t->base, device, table, 0, table->total, 0, e);
    if (code)
        return err_up(e, code);
    t->queue = t->base.queue;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(*parts[i] = arena_try_alloc(own, table->total, sizeof(float))))
            return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", table->count);
        memset(*parts[i], 0, table->total * sizeof(float));
    }
    t->scratch = arena_array(own, struct tree_scratch, device->queues);
    tree_model_init(t->weights, t->model, t->config.deviation,
                    rng_at(t->config.seed, STREAM_WEIGHTS, 0));
    return OK;
}

enum err_code tree_trainer_new(void *out, struct gpu_device *device, const struct tree_model *model,
                               const struct tree_trainer_config *c, struct err *e)
{
    struct tree_trainer *t = must_calloc(1, sizeof *t);
    t->model = model;
    t->config = *c;
    return err_up(e, trained_give(out, t, set_up(t, device, e), e));
}

enum err_code tree_trainer_read(struct trainer_state *out, void *trainer, struct err *e)
{
    struct tree_trainer *t = trainer;
    float *to[] = {out->weights, out->m, out->v};
    const float *from[] = {t->weights, t->momentum, t->squares};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i])
            memcpy(to[i], from[i], t->model->table.total * sizeof(float));
    out->steps = t->base.steps;
    return OK;
}

enum err_code tree_trainer_write(void *trainer, const struct trainer_state *state, struct err *e)
{
    struct tree_trainer *t = trainer;
    size_t bytes = t->model->table.total * sizeof(float);
    memcpy(t->weights, state->weights, bytes);
    memcpy(t->momentum, state->m, bytes);
    memcpy(t->squares, state->v, bytes);
    t->base.steps = state->steps;
    return OK;
}

/* ---- the weights of a step ---- */

static void drop(struct tree_trainer *t, size_t from, size_t to, uint64_t key)
{
    double rate = t->config.dropout;
    uint64_t bound = (uint64_t)(rate * 0x1p53);
    for (size_t i = from; i < to && rate > 0; i++)
        t->factor[i] = rng_at(key, STREAM_DROPOUT, i) >> 11 < bound ? 0 : (float)(1 / (1 - rate));
}

static void add_noise(struct tree_trainer *t, uint64_t key)
{
    struct rng r = rng_new(key, STREAM_NOISE);
    size_t n = (size_t)t->model->tokens * t->model->config.d;
    for (size_t i = 0; i < n; i++)
        t->used[t->model->leaves + i] += (float)(t->config.deviation * rng_normal(&r));
}

/* Writes the weights, with `training` those of the next step; `trees` is the size of its batch. */
static void write_weights(struct tree_trainer *t, size_t trees, bool training)
{
    const struct tree_model *m = t->model;
    size_t n = m->table.total;
    uint64_t key = rng_at(t->config.seed, STREAM_DROPOUT, t->base.steps);
    for (size_t i = 0; i < n; i++)
        t->factor[i] = 1;
    if (training && !m->config.points) {
        drop(t, 0, m->dropped, key);
        drop(t, m->classes, n, key);
    }
    for (size_t i = 0; i < n; i++)
        t->used[i] = t->weights[i] * t->factor[i];
    if (training && t->config.dropout > 0 && !m->config.points)
        add_noise(t, key);
    gpu_write(t->queue, t->base.weights, t->used, n * sizeof *t->used);
    uint64_t stage = t->base.steps / t->config.stage;
    double codes = training && !m->config.points ? 1 - pow(t->config.intro, (double)stage) : 0;
    t->pass = (struct tree_pass){m,
                                 t->base.weights,
                                 t->config.precision,
                                 training ? (float)t->config.hidden_dropout : 0,
                                 (float)t->config.noise,
                                 (float)(codes / (double)trees),
                                 rng_at(t->config.seed, STREAM_HIDDEN, t->base.steps)};
}

/* ---- forward ---- */

static void cut(struct tree_trainer *t, const struct tree_set *s)
{
    size_t most = t->model->config.points ? SHARD_ROWS / t->model->rows : SHARD_NODES;
    t->shards = arena_array(&t->base.arena, struct tree_shard, s->n);
    t->n_shards = 0;
    for (size_t i = 0, j; i < s->n; i = j) {
        size_t nodes = 0;
        for (j = i; j < s->n && (j == i || nodes + s->length[j] <= most); j++)
            nodes += s->length[j];
        struct tree_shard *x = &t->shards[t->n_shards++];
        struct tree_set part = {s->tokens + i, s->length + i, j - i};
        x->first = i;
        tree_lists_make(&x->lists, &t->base.arena, t->model, &part);
    }
}

static void lay_out_contrast(struct tree_trainer *t, size_t trees, struct gpu_layout *l)
{
    struct tree_contrast *c = &t->contrast;
    size_t width = tree_width(t->model);
    c->sums = gpu_carve(l, 2 * sizeof *c->sums);
    c->units = gpu_carve_floats(l, trees * width);
    c->norms = gpu_carve_floats(l, trees);
    c->dvectors = gpu_carve_floats(l, trees * width);
    c->loss = gpu_carve_floats(l, trees);
    c->correct = gpu_carve_floats(l, trees);
    c->target = gpu_carve(l, trees * sizeof *c->target);
    c->group = gpu_carve(l, trees * sizeof *c->group);
}

static void lay_out(struct tree_trainer *t, size_t trees, size_t scores, bool training,
                    struct gpu_layout *l)
{
    size_t largest = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct tree_shard *s = &t->shards[i];
        tree_tape_layout(&s->tape, t->model, &s->lists, training, l);
        largest = s->lists.largest > largest ? s->lists.largest : largest;
        if (training && t->model->config.points)
            s->values = gpu_carve_floats(l, (s->lists.nodes - s->lists.roots) * TREE_VALUES);
    }
    for (unsigned i = 0; i < t->base.device->queues && training; i++)
        tree_scratch_layout(&t->scratch[i], t->model, largest, l);
    t->vectors = gpu_carve_floats(l, trees * tree_width(t->model));
    t->scores = gpu_carve_floats(l, scores + t->model->config.classes);
    if (t->model->config.points)
        lay_out_contrast(t, trees, l);
}

static void forward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct tree_trainer *t = arg;
    const struct tree_shard *s = &t->shards[item];
    size_t d = t->model->config.d;
    tree_forward(q, &t->pass, &s->tape);
    q->op->copy(q, t->vectors + s->first * tree_width(t->model), tree_vectors(&s->tape, t->model),
                s->lists.roots * d);
    if (t->model->config.points && s->tape.dr)
        tree_values(q, s->values, &t->pass, &s->tape);
}

/* Computes t->vectors and allocates that many scores. */
static enum err_code forward(struct tree_trainer *t, const struct tree_set *s, size_t scores,
                             bool training, struct err *e)
{
    struct gpu_layout l = {0};
    cut(t, s);
    write_weights(t, s->n, training);
    lay_out(t, s->n, scores, training, &l);
    enum err_code code = trained_reserve(&t->base, l.used, s->n, "trees", e);
    if (code)
        return err_up(e, code);
    l = (struct gpu_layout){.base = t->base.memory};
    lay_out(t, s->n, scores, training, &l);
    for (size_t i = 0; i < t->n_shards; i++)
        tree_tape_load(t->queue, &t->shards[i].tape, t->pass.codes, &t->base.arena);
    return err_up(e, gpu_each(t->queue, t->n_shards, forward_shard, t, e));
}

/* ---- loss ---- */

/* Returns the index of the greatest score except `own`, the first in case of ties. */
static size_t greatest_other(const float *scores, size_t n, size_t own)
{
    size_t best = own == 0 ? 1 : 0;
    for (size_t i = best + 1; i < n; i++)
        if (i != own && scores[i] > scores[best])
            best = i;
    return best;
}

/* Computes loss and accuracy; replaces vectors by their gradient, and adds that of the classes to
 * `classes`. */
static void margin_loss(struct step_result *r, float *vectors, float *classes,
                        const struct tree_trainer *t, const struct tree_batch *x,
                        const float *scores)
{
    size_t n = t->model->config.classes, d = t->model->config.d;
    const float *class = t->used + t->model->classes;
    float each = 1 / (float)x->set.n;
    for (size_t i = 0; i < x->set.n; i++, scores += n, vectors += d) {
        size_t own = x->class[i], other = greatest_other(scores, n, own);
        double hinge = t->config.margin + scores[other] - scores[own];
        float by = hinge > 0 ? each : 0;
        r->loss += hinge > 0 ? hinge / (double)x->set.n : 0;
        r->accuracy += (scores[own] > scores[other]) / (double)x->set.n;
        for (size_t k = 0; k < d; k++) {
            float v = vectors[k];
            classes[other * d + k] += by * v;
            classes[own * d + k] -= by * v;
            vectors[k] = by * (class[other * d + k] - class[own * d + k]);
        }
    }
}

/* ---- backward ---- */

static void backward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct tree_trainer *t = arg;
    const struct tree_shard *s = &t->shards[item];
    tree_backward(q, t->base.groups[item % t->base.n_groups], &t->pass, &s->tape,
                  &t->scratch[q->index], t->vectors + s->first * tree_width(t->model),
                  t->model->config.points ? s->values : NULL);
}

static enum err_code add_codes(double *loss, struct tree_trainer *t, struct err *e)
{
    for (size_t i = 0; i < t->n_shards && t->pass.codes > 0; i++) {
        const struct tree_shard *s = &t->shards[i];
        size_t n = s->lists.n_groups * tree_sums(t->model);
        double *sums = arena_array(&t->base.arena, double, n);
        gpu_read(t->queue, sums, s->tape.sums, n * sizeof *sums);
        enum err_code code = gpu_finish(t->queue, e);
        if (code)
            return err_up(e, code);
        *loss += tree_codes(sums, t->model, &s->lists);
    }
    return OK;
}

/* The loss of classes: replaces t->vectors by their gradient, and computes that of the classes in
 * dclasses (classes, d). */
static enum err_code classes_loss(struct step_result *r, float *dclasses, struct tree_trainer *t,
                                  const struct tree_batch *x, struct err *e)
{
    const struct tree_model *m = t->model;
    size_t n = x->set.n, d = m->config.d, classes = m->config.classes;
    float *prior = t->scores + n * classes;
    float *vectors = arena_array(&t->base.arena, float, n *d);
    float *scores = arena_try_alloc(&t->base.arena, n * classes, sizeof *scores);
    if (!scores)
        return err_fail(e, ERR_NOMEM, "no memory for the scores of %zu trees", n);
    gpu_write(t->queue, prior, t->config.prior, classes * sizeof *prior);
    linear(t->queue, t->scores, t->vectors, t->base.weights + m->classes, n, d, classes,
           (struct linear_end){.bias = prior}, GPU_F32);
    gpu_read(t->queue, scores, t->scores, n * classes * sizeof *scores);
    gpu_read(t->queue, vectors, t->vectors, n * d * sizeof *vectors);
    enum err_code code = gpu_finish(t->queue, e);
    if (code)
        return err_up(e, code);
    margin_loss(r, vectors, dclasses, t, x, scores);
    gpu_write(t->queue, t->vectors, vectors, n * d * sizeof *vectors);
    return OK;
}

/* Computes the loss, and the gradient in t->gradient. */
static enum err_code differentiate(struct step_result *r, struct tree_trainer *t,
                                   const struct tree_batch *x, struct err *e)
{
    const struct tree_model *m = t->model;
    size_t n = x->set.n, d = m->config.d, classes = m->config.classes;
    enum err_code code;
    arena_reset(&t->base.arena);
    *r = (struct step_result){.step = t->base.steps + 1,
                              .lr = schedule_lr(&t->config.schedule, t->base.steps)};
    float *dclasses = arena_array(&t->base.arena, float, classes *d);
    if ((code = err_up(e, forward(t, &x->set, n * (m->config.points ? n : classes), true, e))) ||
        (code = err_up(e, m->config.points ? tree_functions_loss(r, t, x, e)
                                           : classes_loss(r, dclasses, t, x, e))))
        return code;
    size_t groups = t->base.device->cuts.groups;
    t->base.n_groups = t->n_shards < groups ? t->n_shards : groups;
    if ((code = err_up(e, trained_clear(&t->base, e))) ||
        (code = err_up(e, gpu_each_in_chains(t->queue, t->n_shards, t->base.n_groups,
                                             backward_shard, t, e))) ||
        (code = err_up(e, trained_reduce(&t->base, e))))
        return code;
    gpu_read(t->queue, t->gradient, t->base.groups[0], m->table.total * sizeof *t->gradient);
    if ((code = err_up(e, gpu_finish(t->queue, e))) ||
        (code = err_up(e, add_codes(&r->loss, t, e))))
        return code;
    for (size_t i = 0; i < classes * d; i++)
        t->gradient[m->classes + i] += dclasses[i];
    double squares = 0;
    for (size_t i = 0; i < m->table.total; i++) {
        t->gradient[i] *= t->factor[i];
        squares += (double)t->gradient[i] * t->gradient[i];
    }
    r->gradient_norm = sqrt(squares);
    for (size_t i = 0; i < t->n_shards; i++)
        r->tokens += t->shards[i].lists.nodes;
    return OK;
}

enum err_code tree_trainer_gradient(struct step_result *r, float *gradient, struct tree_trainer *t,
                                    const struct tree_batch *x, struct err *e)
{
    enum err_code code = differentiate(r, t, x, e);
    if (!code)
        memcpy(gradient, t->gradient, t->model->table.total * sizeof *gradient);
    return err_up(e, code);
}

/* ---- the step ---- */

static void update(struct tree_trainer *t)
{
    const struct tree_trainer_config *c = &t->config;
    float clip = (float)c->clip, rho = (float)c->rho, mu = (float)c->momentum;
    float lr = (float)schedule_lr(&c->schedule, t->base.steps);
    for (size_t i = 0; i < t->model->table.total; i++) {
        float g = t->gradient[i], before = t->momentum[i];
        g = g < -clip ? -clip : g > clip ? clip : g;
        t->squares[i] = rho * t->squares[i] + (1 - rho) * g * g;
        t->momentum[i] = mu * before - lr / sqrtf(1e-10F + t->squares[i]) * g;
        t->weights[i] += (1 + mu) * t->momentum[i] - mu * before;
    }
    t->base.steps++;
}

enum err_code tree_trainer_step(struct step_result *r, struct tree_trainer *t,
                                const struct tree_batch *x, struct err *e)
{
    enum err_code code = differentiate(r, t, x, e);
    if (code || (code = trained_check(r, e)))
        return err_up(e, code);
    update(t);
    return OK;
}

/* ---- validation ---- */

enum { NEAREST = 5 };

/* Finds the nearest others by score, in order, the first in case of ties. */
static size_t nearest(size_t out[NEAREST], const float *scores, size_t n, size_t self)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == self || (found == NEAREST && scores[i] <= scores[out[NEAREST - 1]]))
            continue;
        size_t k = found < NEAREST ? found++ : NEAREST - 1;
        for (; k > 0 && scores[i] > scores[out[k - 1]]; k--)
            out[k] = out[k - 1];
        out[k] = i;
    }
    return found;
}

static void score(struct step_result *r, const struct tree_batch *x, const float *scores)
{
    size_t n = x->set.n, asked = 0;
    double sum = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        size_t members = 0, of_class = 0, near[NEAREST];
        for (size_t k = 0; k < n; k++)
            members += x->class[k] == x->class[i];
        if (members < 2)
            continue;
        size_t found = nearest(near, scores + i * n, n, i);
        for (size_t k = 0; k < found; k++)
            of_class += x->class[near[k]] == x->class[i];
        sum += (double)of_class / (double)(members < NEAREST ? members : NEAREST);
        first += x->class[near[0]] == x->class[i];
        asked++;
    }
    r->loss = asked ? 1 - sum / (double)asked : 1;
    r->accuracy = asked ? first / (double)asked : 0;
}

enum err_code tree_trainer_measure(struct step_result *r, struct tree_trainer *t,
                                   const struct tree_batch *x, struct err *e)
{
    size_t n = x->set.n;
    *r = (struct step_result){0};
    arena_reset(&t->base.arena);
    enum err_code code = forward(t, &x->set, n * n, false, e);
    if (code)
        return err_up(e, code);
    if (t->model->config.points)
        t->queue->op->normalize(t->queue, t->vectors, t->contrast.norms, t->vectors, n,
                                tree_width(t->model));
    float *scores = arena_try_alloc(&t->base.arena, n * n, sizeof *scores);
    if (!scores)
        return err_fail(e, ERR_NOMEM, "no memory for the scores of %zu trees", n);
    product(t->queue, "nt", t->scores, t->vectors, t->vectors, n, n, tree_width(t->model), 1, 0,
            GPU_F32);
    gpu_read(t->queue, scores, t->scores, n * n * sizeof *scores);
    if ((code = gpu_finish(t->queue, e)))
        return err_up(e, code);
    score(r, x, scores);
    return OK;
}
