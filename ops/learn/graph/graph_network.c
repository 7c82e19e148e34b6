#include "ops/learn/graph/graph_network.h"

#include "ops/nn/batch_norm.h"

#include <string.h>

struct graph_shard {
    size_t first; /* index in the batch */
    struct graph_set s;
    struct graph_tape tape;
};

struct graph_network {
    struct trainer base; /* gradients: of trained parameters, then of alpha E */
    const struct graph_model *model;
    struct graph_training config;
    const struct graph_set *batch;
    float *sinusoids, *table, *norms; /* device; norms: (4, norms, d), as in graph_weights */
    float *flat;                      /* host: (total); running statistics only */
    struct batch_norm *norm;          /* (norms) */
    struct graph_shard *shards;
    size_t n_shards, nodes, hidden;
    struct graph_scratch *scratch; /* by queue */
    float *vectors;                /* host: (graphs, out) */
    struct graph_lengths lengths;
    size_t stage;
};

/* ---- life ---- */

static enum err_code open(void *self, struct err *e)
{
    struct graph_network *t = self;
    const struct graph_model *m = t->model;
    size_t d = m->config.d, positions = (size_t)m->config.positions * d;
    struct trainer *x = &t->base;
    enum err_code code;
    if ((code = trainer_alloc(&t->sinusoids, x, positions * sizeof(float), e)) ||
        (code = trainer_alloc(&t->norms, x, 4 * m->norms * d * sizeof(float), e)) ||
        (code = trainer_alloc(&t->table, x, graph_table_rows(&m->config) * d * sizeof(float), e)))
        return err_up(e, code);
    float *sinusoids = arena_try_alloc(&x->arena, positions, sizeof *sinusoids);
    t->flat = arena_try_alloc(&x->own, m->table.total, sizeof *t->flat);
    if (!sinusoids || !t->flat)
        return err_fail(e, ERR_NOMEM, "no memory for a model of %zu parameters", m->table.count);
    t->scratch = arena_array(&x->own, struct graph_scratch, x->device->queues);
    t->norm = arena_array(&x->own, struct batch_norm, m->norms);
    for (size_t i = 0; i < m->norms; i++)
        batch_norm_alloc(&t->norm[i], &x->own, d);
    gpu_read(x->queue, t->flat, x->weights, m->table.total * sizeof *t->flat);
    nn_sinusoids(sinusoids, m->config.positions, m->config.d);
    gpu_write(x->queue, t->sinusoids, sinusoids, positions * sizeof *sinusoids);
    return OK;
}

static void replaced(void *self, const float *weights)
{
    struct graph_network *t = self;
    memcpy(t->flat, weights, t->model->table.total * sizeof *t->flat);
}

/* ---- a batch in shards ---- */

static struct graph_set slice(struct arena *a, const struct graph_set *x, size_t from, size_t to)
{
    uint32_t *first = arena_array(a, uint32_t, to - from + 1);
    for (size_t i = from; i <= to; i++)
        first[i - from] = x->first[i] - x->first[from];
    return (struct graph_set){x->vertices + x->first[from], first, to - from, NULL};
}

/* Shard i ends with the first graph that reaches part (i+1) of the nodes; none is empty. */
static size_t cut(void *self)
{
    struct graph_network *t = self;
    const struct graph_set *x = t->batch = t->base.batch;
    const struct gpu_cuts *cuts = &t->base.device->cuts;
    size_t wide = cuts->shard_widths * t->model->config.d;
    size_t per_shard = wide > cuts->shard_tokens ? wide : cuts->shard_tokens;
    size_t nodes = x->first[x->graphs], n = (nodes + per_shard - 1) / per_shard, at = 0;
    n = (n + cuts->groups - 1) / cuts->groups * cuts->groups;
    t->nodes = nodes;
    t->shards = arena_array(&t->base.arena, struct graph_shard, n);
    t->n_shards = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = at, end = nodes * (i + 1) / n;
        while (at < x->graphs && x->first[at] < end)
            at++;
        if (at > first)
            t->shards[t->n_shards++] =
                (struct graph_shard){.first = first, .s = slice(&t->base.arena, x, first, at)};
    }
    return x->graphs / 3;
}

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct graph_network *t = self;
    size_t most = 0;
    t->hidden = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        struct graph_shard *s = &t->shards[i];
        size_t nodes = s->s.first[s->s.graphs];
        most = nodes > most ? nodes : most;
        graph_tape_layout(&s->tape, t->model, &s->s, true, l, &t->base.arena);
        t->hidden += s->tape.lists.hidden;
    }
    for (unsigned i = 0; i < t->base.device->queues; i++)
        graph_scratch_layout(&t->scratch[i], t->model, most, true, l);
}

static enum err_code load(void *self, const struct nn_block *inputs, struct err *e)
{
    struct graph_network *t = self;
    for (size_t i = 0; i < t->n_shards; i++)
        graph_lists_write(t->base.queue, &t->shards[i].tape.lists, &t->shards[i].s,
                          &t->model->config, &t->base.arena);
    t->vectors = arena_array(&t->base.arena, float, t->batch->graphs * t->model->config.out);
    return OK;
}

/* ---- forward ---- */

static struct graph_weights weights_of(const struct graph_network *t)
{
    size_t n = t->model->norms * t->model->config.d;
    return (struct graph_weights){t->base.weights,    t->table,         t->norms,
                                  t->norms + n,       t->norms + 2 * n, t->norms + 3 * n,
                                  t->config.precision};
}

/* Copies a norm's values to the device. */
static void write_norm(struct graph_network *t, size_t i)
{
    const struct batch_norm *x = &t->norm[i];
    const float *from[] = {x->factor, x->shift, x->back, x->back_shift};
    size_t d = t->model->config.d;
    for (size_t k = 0; k < 4; k++)
        gpu_write(t->base.queue, t->norms + (k * t->model->norms + i) * d, from[k],
                  d * sizeof(float));
}

/* Adds up the sums of all shards, in order. */
static double *join_sums(struct graph_network *t)
{
    size_t n = 2 * (size_t)t->model->config.d;
    double *sums = arena_array(&t->base.arena, double, n),
           *part = arena_array(&t->base.arena, double, n);
    for (size_t i = 0; i < t->n_shards; i++) {
        gpu_read(t->base.queue, part, t->shards[i].tape.sums, n * sizeof *part);
        for (size_t c = 0; c < n; c++)
            sums[c] += part[c];
    }
    return sums;
}

static void forward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct graph_network *t = arg;
    struct graph_weights w = weights_of(t);
    graph_forward(q, t->model, &w, &t->shards[item].tape, &t->scratch[q->index], t->stage,
                  t->base.training);
}

/* Computes t->vectors, with the batch's statistics in training, else with running ones. */
static enum err_code forward(void *self, struct err *e)
{
    struct graph_network *t = self;
    const struct graph_model *m = t->model;
    bool training = t->base.training;
    enum err_code code;
    graph_table_make(t->base.queue, t->table, t->base.weights, t->sinusoids, m);
    for (size_t i = 0; i < m->norms && !training; i++) {
        batch_norm_running(&t->norm[i], t->flat + m->mean[i], t->flat + m->variance[i],
                           m->config.d);
        write_norm(t, i);
    }
    for (t->stage = 0; t->stage < graph_stages(m); t->stage++) {
        if ((code = err_up(e, gpu_each(t->base.queue, t->n_shards, forward_shard, t, e))))
            return code;
        if (!training || t->stage == m->norms)
            continue;
        batch_norm_of_sums(&t->norm[t->stage], join_sums(t), t->nodes, m->config.d);
        write_norm(t, t->stage);
    }
    for (size_t i = 0; i < t->n_shards; i++) {
        const struct graph_shard *s = &t->shards[i];
        gpu_read(t->base.queue, t->vectors + s->first * m->config.out, s->tape.vectors,
                 s->s.graphs * m->config.out * sizeof(float));
    }
    return err_up(e, gpu_finish(t->base.queue, e));
}

/* ---- losses ---- */

static void heads_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct graph_network *t = arg;
    const struct graph_tape *x = &t->shards[item].tape;
    for (size_t i = 0; i < GRAPH_HEADS && x->lists.hidden; i++) {
        struct gpu_loss how = {.rows = x->lists.hidden,
                               .cols = graph_head_classes[i],
                               .target = x->lists.label[i],
                               .scale = 1 / (GRAPH_HEADS * (float)t->hidden),
                               .loss = x->loss[i],
                               .correct = x->correct[i]};
        q->op->cross_entropy(q, x->logits[i], &how);
    }
}

static void read_heads(struct graph_score *r, struct graph_network *t)
{
    float *loss = arena_array(&t->base.arena, float, t->hidden);
    float *correct = arena_array(&t->base.arena, float, t->hidden);
    double n = GRAPH_HEADS * (double)t->hidden, right = 0;
    for (size_t k = 0; k < t->n_shards * GRAPH_HEADS; k++) {
        const struct graph_tape *x = &t->shards[k / GRAPH_HEADS].tape;
        size_t rows = x->lists.hidden;
        gpu_read(t->base.queue, loss, x->loss[k % GRAPH_HEADS], rows * sizeof *loss);
        gpu_read(t->base.queue, correct, x->correct[k % GRAPH_HEADS], rows * sizeof *correct);
        for (size_t i = 0; i < rows; i++) {
            r->loss += (double)loss[i] / n;
            right += (double)correct[i] / n;
        }
    }
    if (t->config.similarity == GRAPH_NO_SIMILARITY)
        r->accuracy = right;
}

static enum err_code loss(void *self, struct err *e)
{
    struct graph_network *t = self;
    const struct graph_model *m = t->model;
    const struct graph_training *c = &t->config;
    const struct graph_set *x = t->batch;
    bool gradient = t->base.training;
    size_t d = m->config.out, graphs = x->graphs;
    struct graph_batch batch = {graphs / 3, x->paper};
    enum err_code code;
    t->lengths =
        gradient ? graph_lengths_of(t->vectors, graphs, d) : graph_lengths_running(t->flat, m);
    struct graph_score score = graph_similarity_loss(
        t->vectors, &batch, d, c->similarity, c->margin, &t->lengths, gradient, &t->base.arena);
    t->base.tokens = t->nodes;
    if (t->hidden) {
        if ((code = err_up(e, gpu_each(t->base.queue, t->n_shards, heads_shard, t, e))))
            return code;
        read_heads(&score, t);
    }
    for (size_t i = 0; i < t->n_shards && gradient; i++) {
        const struct graph_shard *s = &t->shards[i];
        gpu_write(t->base.queue, s->tape.vectors, t->vectors + s->first * d,
                  s->s.graphs * d * sizeof(float));
    }
    trainer_set_loss(t, score.loss, score.accuracy);
    return err_up(e, gpu_finish(t->base.queue, e));
}

/* ---- backward ---- */

static void backward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct graph_network *t = arg;
    float *group = t->base.groups[item % t->base.n_groups];
    struct graph_weights w = weights_of(t);
    struct graph_gradients g = {group, group + t->model->learnt};
    graph_backward(q, &g, t->model, &w, &t->shards[item].tape, &t->scratch[q->index], t->stage);
}

static enum err_code backward(void *self, struct err *e)
{
    struct graph_network *t = self;
    const struct graph_model *m = t->model;
    enum err_code code = OK;
    for (t->stage = graph_stages(m); t->stage-- > 0 && !code;) {
        code =
            gpu_each_in_chains(t->base.queue, t->n_shards, t->base.n_groups, backward_shard, t, e);
        if (t->stage == 0 || code)
            continue;
        batch_norm_back(&t->norm[t->stage - 1], join_sums(t), t->nodes, m->config.d);
        write_norm(t, t->stage - 1);
    }
    return err_up(e, code);
}

static enum err_code summed(void *self, struct err *e)
{
    struct graph_network *t = self;
    float *sum = t->base.groups[0];
    graph_alpha_back(t->base.queue, sum, sum + t->model->learnt, t->sinusoids, t->model);
    return OK;
}

static void move_running(void *self)
{
    struct graph_network *t = self;
    const struct graph_model *m = t->model;
    for (size_t i = 0; i < m->norms; i++)
        batch_norm_move(t->flat + m->mean[i], t->flat + m->variance[i], &t->norm[i], t->nodes,
                        m->config.d);
    graph_lengths_move(t->flat, m, &t->lengths);
    gpu_write(t->base.queue, t->base.weights + m->learnt, t->flat + m->learnt,
              (m->table.total - m->learnt) * sizeof *t->flat);
}

static const struct network network = {.size = sizeof(struct graph_network),
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

enum err_code graph_network_new(void *out, struct gpu_device *device,
                                const struct graph_model *model, const struct graph_training *c,
                                struct err *e)
{
    struct graph_network *t = must_calloc(1, network.size);
    t->model = model;
    t->config = *c;
    struct trainer_config how = {.table = &model->table,
                                 .learnt = model->learnt,
                                 .auxiliary = (size_t)model->config.positions * model->config.d,
                                 .optimizer = c->optimizer,
                                 .precision = c->precision,
                                 .seed = c->seed};
    return err_up(e, trainer_open(out, t, &network, device, &how, e));
}
