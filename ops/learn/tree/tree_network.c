#include "ops/learn/tree/tree_training.h"

#include "base/rng.h"
#include "ops/nn/linear.h"

#include <math.h>
#include <stdlib.h>

enum stream { STREAM_WEIGHTS = 1, STREAM_DROPOUT, STREAM_NOISE, STREAM_HIDDEN };
enum { SHARD_NODES = 2048, SHARD_ROWS = 8192 }; /* approximate maxima; rows: of functions */

/* ---- life ---- */

static bool drops_weights(const struct tree_network *t)
{
    return !t->model->config.points && t->config.dropout > 0;
}

static void initialise(float *weights, void *self)
{
    const struct tree_network *t = self;
    tree_model_init(weights, t->model, t->config.deviation, t->base.config.seed);
}

static enum err_code open(void *self, struct err *e)
{
    struct tree_network *t = self;
    const struct tree_model *m = t->model;
    enum err_code code = OK;
    t->scratch = arena_array(&t->base.own, struct tree_scratch, t->base.device->queues);
    if (drops_weights(t) &&
        ((code = trainer_alloc(&t->used, t, m->table.total * sizeof *t->used, e)) ||
         (code = trainer_alloc(&t->noise, t, (size_t)m->tokens * m->config.d * sizeof(float), e))))
        return err_up(e, code);
    return OK;
}

/* ---- the weights of a step ---- */

/* Drops elements of the operators' matrices and of the classes' vectors. */
static void drop(const struct tree_network *t, float *y, const float *x)
{
    const struct tree_model *m = t->model;
    size_t from[] = {0, m->classes}, to[] = {m->dropped, m->table.total};
    for (size_t i = 0; i < 2; i++) {
        struct gpu_dropout how = t->dropout;
        how.first = from[i];
        if (to[i] > from[i])
            t->base.queue->op->dropout(t->base.queue, GPU_TYPE_F32, y + from[i], x + from[i], NULL,
                                       to[i] - from[i], &how);
    }
}

static void add_noise(struct tree_network *t, uint64_t key)
{
    struct rng r = rng_new(key, STREAM_NOISE);
    size_t n = (size_t)t->model->tokens * t->model->config.d;
    float *noise = arena_array(&t->base.arena, float, n);
    for (size_t i = 0; i < n; i++)
        noise[i] = (float)(t->config.deviation * rng_normal(&r));
    gpu_write(t->base.queue, t->noise, noise, n * sizeof *noise);
    t->base.queue->op->add(t->base.queue, t->used + t->model->leaves, t->noise, n);
}

/* Sets the weights to use, with dropout in training, and the options of the passes. */
static void begin_pass(struct tree_network *t)
{
    const struct tree_model *m = t->model;
    bool training = t->base.training, drops = training && drops_weights(t);
    uint64_t key = rng_at(t->config.seed, STREAM_DROPOUT, t->base.steps);
    uint64_t stage = t->base.steps / t->config.stage;
    double codes = training && !m->config.points ? 1 - pow(t->config.intro, (double)stage) : 0;
    t->dropout = (struct gpu_dropout){.rate = (float)t->config.dropout, .key = key};
    if (drops) {
        t->base.queue->op->copy(t->base.queue, t->used + m->dropped, t->base.weights + m->dropped,
                                m->classes - m->dropped);
        drop(t, t->used, t->base.weights);
        add_noise(t, key);
    }
    t->pass = (struct tree_pass){m,
                                 drops ? t->used : t->base.weights,
                                 t->config.precision,
                                 training ? (float)t->config.hidden_dropout : 0,
                                 (float)t->config.noise,
                                 (float)(codes / (double)t->batch->set.n),
                                 rng_at(t->config.seed, STREAM_HIDDEN, t->base.steps)};
}

/* ---- forward ---- */

static size_t cut(void *self)
{
    struct tree_network *t = self;
    t->batch = t->base.batch;
    const struct tree_set *s = &t->batch->set;
    size_t groups = t->base.device->cuts.groups;
    size_t most = t->model->config.points ? SHARD_ROWS / t->model->rows : SHARD_NODES;
    t->shards = arena_array(&t->base.arena, struct tree_shard, s->n);
    t->n_shards = 0;
    t->base.tokens = 0;
    for (size_t i = 0, j; i < s->n; i = j) {
        size_t nodes = 0;
        for (j = i; j < s->n && (j == i || nodes + s->length[j] <= most); j++)
            nodes += s->length[j];
        struct tree_shard *x = &t->shards[t->n_shards++];
        struct tree_set part = {s->tokens + i, s->length + i, j - i};
        x->first = i;
        tree_lists_make(&x->lists, &t->base.arena, t->model, &part);
        t->base.tokens += x->lists.nodes;
    }
    t->base.n_groups = t->n_shards < groups ? t->n_shards : groups;
    begin_pass(t);
    return s->n;
}

static void lay_out_contrast(struct tree_network *t, size_t trees, struct gpu_layout *l)
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

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct tree_network *t = self;
    bool training = t->base.training, classes = training && !t->model->config.points;
    size_t largest = 0, trees = t->batch->set.n;
    size_t scores = trees * (classes ? t->model->config.classes : trees);
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
    struct tree_network *t = arg;
    const struct tree_shard *s = &t->shards[item];
    size_t d = t->model->config.d;
    tree_forward(q, &t->pass, &s->tape);
    q->op->copy(q, t->vectors + s->first * tree_width(t->model), tree_vectors(&s->tape, t->model),
                s->lists.roots * d);
    if (t->model->config.points && s->tape.dr)
        tree_values(q, s->values, &t->pass, &s->tape);
}

static enum err_code load(void *self, const struct nn_block *inputs, struct err *e)
{
    struct tree_network *t = self;
    for (size_t i = 0; i < t->n_shards; i++)
        tree_tape_load(t->base.queue, &t->shards[i].tape, t->pass.codes, &t->base.arena);
    return OK;
}

/* Computes t->vectors. */
static enum err_code forward(void *self, struct err *e)
{
    struct tree_network *t = self;
    return err_up(e, gpu_each(t->base.queue, t->n_shards, forward_shard, t, e));
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

/* Computes loss and accuracy; replaces vectors by their gradient, and adds that of the classes
 * (class, as they are used) to t->dclasses. */
static void margin_loss(struct tree_network *t, float *vectors, const float *class,
                        const float *scores)
{
    size_t n = t->model->config.classes, d = t->model->config.d;
    const struct tree_batch *x = t->batch;
    float *classes = t->dclasses;
    float each = 1 / (float)x->set.n;
    for (size_t i = 0; i < x->set.n; i++, scores += n, vectors += d) {
        size_t own = x->class[i], other = greatest_other(scores, n, own);
        double hinge = t->config.margin + scores[other] - scores[own];
        float by = hinge > 0 ? each : 0;
        t->loss += hinge > 0 ? hinge / (double)x->set.n : 0;
        t->accuracy += (scores[own] > scores[other]) / (double)x->set.n;
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
    struct tree_network *t = arg;
    const struct tree_shard *s = &t->shards[item];
    tree_backward(q, t->base.groups[item % t->base.n_groups], &t->pass, &s->tape,
                  &t->scratch[q->index], t->vectors + s->first * tree_width(t->model),
                  t->model->config.points ? s->values : NULL);
}

static enum err_code add_codes(struct tree_network *t, struct err *e)
{
    for (size_t i = 0; i < t->n_shards && t->pass.codes > 0; i++) {
        const struct tree_shard *s = &t->shards[i];
        size_t n = s->lists.n_groups * tree_sums(t->model);
        double *sums = arena_array(&t->base.arena, double, n);
        gpu_read(t->base.queue, sums, s->tape.sums, n * sizeof *sums);
        enum err_code code = gpu_finish(t->base.queue, e);
        if (code)
            return err_up(e, code);
        t->loss += tree_codes(sums, t->model, &s->lists);
    }
    trainer_set_loss(t, t->loss, t->accuracy);
    return OK;
}

static enum err_code backward(void *self, struct err *e)
{
    struct tree_network *t = self;
    enum err_code code =
        gpu_each_in_chains(t->base.queue, t->n_shards, t->base.n_groups, backward_shard, t, e);
    return err_up(e, code ? code : add_codes(t, e));
}

static enum err_code summed(void *self, struct err *e)
{
    struct tree_network *t = self;
    const struct tree_model *m = t->model;
    float *sum = t->base.groups[0];
    size_t n = (size_t)m->config.classes * m->config.d;
    if (n)
        gpu_write(t->base.queue, sum + m->classes, t->dclasses, n * sizeof *t->dclasses);
    if (drops_weights(t))
        drop(t, sum, sum);
    return OK;
}

/* The loss of classes: replaces t->vectors by their gradient, and computes that of the classes in
 * t->dclasses (classes, d). */
static enum err_code classes_loss(struct tree_network *t, struct err *e)
{
    const struct tree_model *m = t->model;
    struct gpu_queue *q = t->base.queue;
    struct arena *a = &t->base.arena;
    size_t n = t->batch->set.n, d = m->config.d, classes = m->config.classes;
    float *prior = t->scores + n * classes, *vectors = arena_array(a, float, n *d);
    float *class = arena_array(a, float, classes *d);
    float *scores = arena_try_alloc(a, n * classes, sizeof *scores);
    if (!scores)
        return err_fail(e, ERR_NOMEM, "no memory for the scores of %zu trees", n);
    t->dclasses = arena_array(a, float, classes *d);
    gpu_write(q, prior, t->config.prior, classes * sizeof *prior);
    linear(q, t->scores, t->vectors, t->pass.flat + m->classes, n, d, classes,
           (struct linear_end){.bias = prior}, GPU_F32);
    gpu_read(q, scores, t->scores, n * classes * sizeof *scores);
    gpu_read(q, vectors, t->vectors, n * d * sizeof *vectors);
    gpu_read(q, class, t->pass.flat + m->classes, classes * d * sizeof *class);
    enum err_code code = gpu_finish(q, e);
    if (code)
        return err_up(e, code);
    margin_loss(t, vectors, class, scores);
    gpu_write(q, t->vectors, vectors, n * d * sizeof *vectors);
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

static void score(struct tree_network *t, const float *scores)
{
    const struct tree_batch *x = t->batch;
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
    t->loss = asked ? 1 - sum / (double)asked : 1;
    t->accuracy = asked ? first / (double)asked : 0;
}

static enum err_code validate(struct tree_network *t, struct err *e)
{
    struct gpu_queue *q = t->base.queue;
    size_t n = t->batch->set.n, width = tree_width(t->model);
    if (t->model->config.points)
        q->op->normalize(q, t->vectors, t->contrast.norms, t->vectors, n, width);
    float *scores = arena_try_alloc(&t->base.arena, n * n, sizeof *scores);
    if (!scores)
        return err_fail(e, ERR_NOMEM, "no memory for the scores of %zu trees", n);
    product(q, "nt", t->scores, t->vectors, t->vectors, n, n, width, 1, 0, GPU_F32);
    gpu_read(q, scores, t->scores, n * n * sizeof *scores);
    enum err_code code = gpu_finish(q, e);
    if (!code)
        score(t, scores);
    return err_up(e, code);
}

/* ---- the network ---- */

static enum err_code loss(void *self, struct err *e)
{
    struct tree_network *t = self;
    t->loss = t->accuracy = 0;
    enum err_code code = !t->base.training         ? validate(t, e)
                         : t->model->config.points ? tree_functions_loss(t, e)
                                                   : classes_loss(t, e);
    trainer_set_loss(t, t->loss, t->accuracy);
    return err_up(e, code);
}

static const struct network network = {.size = sizeof(struct tree_network),
                                       .initialise = initialise,
                                       .open = open,
                                       .cut = cut,
                                       .lay_out = lay_out,
                                       .load = load,
                                       .forward = forward,
                                       .loss = loss,
                                       .backward = backward,
                                       .summed = summed};

enum err_code tree_network_new(void *out, struct gpu_device *device, const struct tree_model *model,
                               const struct tree_training *c, struct err *e)
{
    struct tree_network *t = must_calloc(1, network.size);
    t->model = model;
    t->config = *c;
    struct trainer_config how = {.table = &model->table,
                                 .optimizer = c->optimizer,
                                 .precision = c->precision,
                                 .seed = rng_at(c->seed, STREAM_WEIGHTS, 0)};
    return err_up(e, trainer_open(out, t, &network, device, &how, e));
}
