/* One step of training: forward by shards, loss by rows, backward by groups, update by blocks; see
 * trainer.h. */
#include "ops/learn/trainer.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARD_TOKENS = 512, /* about: so that a shard's layer stays in the second cache */
    LOSS_ROWS = 64,     /* rows of the matrix of scores that are one piece of work */
    BLOCK = 1 << 14,    /* parameters that are one piece of the update */
};

enum stream { STREAM_INIT = 1, STREAM_DROPOUT, STREAM_PAIRS, STREAM_VALIDATION };

/* The batch on the host. */
struct batch {
    struct nn_sequences all;
    uint32_t *tokens, *offset, *group, *target;
    size_t tokens_cap;
};

struct shard {
    struct nn_sequences s; /* offsets from 0 */
    size_t first;          /* sequence within the batch */
    struct nn_tape tape;
};

struct trainer {
    struct gpu_device *device;
    const struct nn_model *model;
    struct trainer_config config;
    uint64_t steps;
    float *weights, *m, *v, *sinusoids, *gradient; /* device */
    float *groups[LEARN_GROUPS];                   /* device: gradients */
    struct gpu_queue *queue;

    struct arena arena; /* of the step */
    struct batch batch;
    struct shard *shards;
    size_t n_shards;
    struct nn_scratch *scratch; /* by queue */
    void *memory;               /* device: tapes, scratch and what follows */
    size_t memory_size;
    float *vectors, *units, *norms, *dvectors; /* (2B, d) (2B, d) (2B) (2B, d) */
    float *scores, *loss, *correct;            /* (2B, 2B) (2B) (2B) */
    uint32_t *target, *group;                  /* device copies */
    double *squares;                           /* by block: host */
    struct gpu_adamw how;
    struct nn_dropout dropout;
};

/* ---- life ---- */

static enum err_code alloc_floats(float **out, struct trainer *t, size_t n, struct err *e)
{
    void *p;
    enum err_code code = gpu_alloc(&p, t->device, n * sizeof(float), e);
    if (!code)
        *out = p;
    return err_up(e, code);
}

static size_t n_blocks(const struct trainer *t)
{
    return (t->model->total + BLOCK - 1) / BLOCK;
}

static enum err_code set_up(struct trainer *t, struct err *e)
{
    const struct nn_model *m = t->model;
    size_t n = m->total, table = (size_t)m->config.max_length * m->config.d_model;
    float **parts[] = {&t->weights, &t->m, &t->v, &t->gradient};
    enum err_code code = gpu_queue_new(&t->queue, t->device, e);
    if (code)
        return err_up(e, code);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if ((code = err_up(e, alloc_floats(parts[i], t, n, e))))
            return code;
    for (size_t i = 0; i < LEARN_GROUPS; i++)
        if ((code = err_up(e, alloc_floats(&t->groups[i], t, n, e))))
            return code;
    if ((code = err_up(e, alloc_floats(&t->sinusoids, t, table, e))))
        return code;
    float *host = malloc((n > table ? n : table) * sizeof *host);
    t->squares = calloc(n_blocks(t), sizeof *t->squares);
    t->scratch = calloc(gpu_queues(t->device), sizeof *t->scratch);
    if (!host || !t->squares || !t->scratch) {
        free(host);
        return err_fail(e, ERR_NOMEM, "no memory for a model of %zu parameters", m->count);
    }
    nn_model_init(host, m, rng_at(t->config.seed, STREAM_INIT, 0));
    gpu_write(t->queue, t->weights, host, n * sizeof *host);
    nn_sinusoids(host, &m->config);
    gpu_write(t->queue, t->sinusoids, host, table * sizeof *host);
    free(host);
    return err_up(e, gpu_finish(t->queue, e));
}

enum err_code trainer_new(struct trainer **out, struct gpu_device *device,
                          const struct nn_model *model, const struct trainer_config *c,
                          struct err *e)
{
    struct trainer *t = calloc(1, sizeof *t);
    if (!t)
        return err_fail(e, ERR_NOMEM, "no memory for a trainer");
    t->device = device;
    t->model = model;
    t->config = *c;
    enum err_code code = set_up(t, e);
    if (code)
        trainer_free(t);
    else
        *out = t;
    return err_up(e, code);
}

void trainer_free(struct trainer *t)
{
    if (!t)
        return;
    float *parts[] = {t->weights, t->m, t->v, t->gradient, t->sinusoids};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        gpu_free(t->device, parts[i]);
    for (size_t i = 0; i < LEARN_GROUPS; i++)
        gpu_free(t->device, t->groups[i]);
    gpu_free(t->device, t->memory);
    gpu_queue_free(t->queue);
    arena_free(&t->arena);
    free(t->batch.tokens);
    free(t->squares);
    free(t->scratch);
    free(t);
}

uint64_t trainer_steps(const struct trainer *t)
{
    return t->steps;
}

enum err_code trainer_read(struct trainer_state *out, struct trainer *t, struct err *e)
{
    size_t bytes = t->model->total * sizeof(float);
    float *to[] = {out->weights, out->m, out->v};
    const float *from[] = {t->weights, t->m, t->v};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i])
            gpu_read(t->queue, to[i], from[i], bytes);
    out->steps = t->steps;
    return err_up(e, gpu_finish(t->queue, e));
}

enum err_code trainer_write(struct trainer *t, const struct trainer_state *state, struct err *e)
{
    size_t bytes = t->model->total * sizeof(float);
    gpu_write(t->queue, t->weights, state->weights, bytes);
    gpu_write(t->queue, t->m, state->m, bytes);
    gpu_write(t->queue, t->v, state->v, bytes);
    t->steps = state->steps;
    return err_up(e, gpu_finish(t->queue, e));
}

/* ---- the batch and its shards ---- */

static void append(struct batch *b, const struct dataset *d, uint32_t sequence)
{
    size_t from = d->offset[sequence], n = d->offset[sequence + 1] - from;
    uint32_t at = b->offset[b->all.n];
    if (at + n > b->tokens_cap) {
        b->tokens_cap = 2 * (at + n);
        b->tokens = realloc(b->tokens, b->tokens_cap * sizeof *b->tokens);
        if (!b->tokens)
            abort();
    }
    memcpy(b->tokens + at, d->tokens + from, n * sizeof *b->tokens);
    b->offset[++b->all.n] = at + (uint32_t)n;
}

/* Batch number `index` of a stream of pairs: first all first members, then all second ones. */
static void gather(struct trainer *t, const struct dataset *d, enum stream stream, uint64_t index)
{
    struct batch *b = &t->batch;
    size_t n = t->config.batch;
    b->all.n = 0;
    b->offset = arena_array(&t->arena, uint32_t, 2 * n + 1);
    b->group = arena_array(&t->arena, uint32_t, 2 * n);
    uint64_t seed = rng_at(t->config.seed, stream, 0);
    struct pair *pairs = arena_array(&t->arena, struct pair, n);
    for (size_t i = 0; i < n; i++) {
        pairs[i] = dataset_pair(d, seed, n, index * n + i);
        b->group[i] = b->group[n + i] = pairs[i].cluster;
        append(b, d, pairs[i].a);
    }
    for (size_t i = 0; i < n; i++)
        append(b, d, pairs[i].b);
    b->all.tokens = b->tokens;
    b->all.offset = b->offset;
}

/* Shard i ends with the first sequence that reaches the (i+1)-th part of the tokens. */
static void cut(struct trainer *t, const struct nn_sequences *all)
{
    size_t tokens = all->offset[all->n];
    size_t per_group = (tokens + LEARN_GROUPS * SHARD_TOKENS - 1) / (LEARN_GROUPS * SHARD_TOKENS);
    t->n_shards = LEARN_GROUPS * per_group;
    t->shards = arena_array(&t->arena, struct shard, t->n_shards);
    size_t at = 0;
    for (size_t i = 0; i < t->n_shards; i++) {
        size_t first = at, end = tokens * (i + 1) / t->n_shards;
        while (at < all->n && all->offset[at + 1] <= end)
            at++;
        if (i + 1 == t->n_shards)
            at = all->n;
        uint32_t *offset = arena_array(&t->arena, uint32_t, at - first + 1);
        for (size_t j = first; j <= at; j++)
            offset[j - first] = all->offset[j] - all->offset[first];
        t->shards[i] = (struct shard){.s = {all->tokens + all->offset[first], offset, at - first},
                                      .first = first};
    }
}

static void lay_out(struct trainer *t, const struct nn_sequences *all, struct gpu_layout *l)
{
    size_t n = all->n, d = t->model->config.d_model, most = 0;
    t->vectors = gpu_carve(l, n * d * sizeof(float));
    t->units = gpu_carve(l, n * d * sizeof(float));
    t->dvectors = gpu_carve(l, n * d * sizeof(float));
    t->norms = gpu_carve(l, n * sizeof(float));
    t->scores = gpu_carve(l, n * n * sizeof(float));
    t->loss = gpu_carve(l, n * sizeof(float));
    t->correct = gpu_carve(l, n * sizeof(float));
    t->target = gpu_carve(l, n * sizeof(uint32_t));
    t->group = gpu_carve(l, n * sizeof(uint32_t));
    for (size_t i = 0; i < t->n_shards; i++) {
        struct shard *s = &t->shards[i];
        nn_tape_layout(&s->tape, t->model, &s->s, true, l, &t->arena);
        if (l->base)
            s->tape.pooled = t->vectors + s->first * d;
        most = s->tape.tokens > most ? s->tape.tokens : most;
    }
    for (unsigned i = 0; i < gpu_queues(t->device); i++)
        nn_scratch_layout(&t->scratch[i], t->model, most, true, l);
}

static enum err_code make_room(struct trainer *t, const struct nn_sequences *all, struct err *e)
{
    struct gpu_layout l = {0};
    lay_out(t, all, &l);
    if (l.used > t->memory_size) {
        gpu_free(t->device, t->memory);
        t->memory = NULL;
        t->memory_size = 0;
        size_t size = l.used + l.used / 8;
        enum err_code code = gpu_alloc(&t->memory, t->device, size, e);
        if (code)
            return err_up(e, code);
        t->memory_size = size;
    }
    l = (struct gpu_layout){.base = t->memory};
    lay_out(t, all, &l);
    return OK;
}

/* ---- the pieces of a step ---- */

static struct nn_dropout shard_dropout(const struct trainer *t, const struct shard *s)
{
    struct nn_dropout drop = t->dropout;
    drop.first_token = t->batch.all.offset[s->first];
    return drop;
}

static void forward_shard(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    struct shard *s = &t->shards[item];
    size_t d = t->model->config.d_model;
    struct nn_weights w = {t->weights, t->sinusoids, t->config.precision};
    struct nn_dropout drop = shard_dropout(t, s);
    if (s->s.n == 0)
        return;
    nn_encoder_forward(q, t->model, &w, &s->tape, &t->scratch[q->index], &drop);
    q->op->normalize(q, t->units + s->first * d, t->norms + s->first, s->tape.pooled, s->s.n, d);
}

static void loss_rows(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    size_t n = t->batch.all.n, d = t->model->config.d_model, first = item * LOSS_ROWS;
    size_t rows = n - first < LOSS_ROWS ? n - first : LOSS_ROWS;
    float *scores = t->scores + first * n;
    q->op->matmul(q, &(struct gpu_matmul){.tb = true,
                                          .m = rows,
                                          .n = n,
                                          .k = d,
                                          .alpha = (float)(1 / t->config.temperature),
                                          .a = t->units + first * d,
                                          .lda = d,
                                          .b = t->units,
                                          .ldb = d,
                                          .c = scores,
                                          .ldc = n});
    q->op->cross_entropy(q, scores,
                         &(struct gpu_cross_entropy){.rows = rows,
                                                     .cols = n,
                                                     .first_row = first,
                                                     .target = t->target,
                                                     .group = t->group,
                                                     .self = true,
                                                     .scale = 1 / (float)n,
                                                     .loss = t->loss + first,
                                                     .correct = t->correct + first});
}

/* Scores are u_i . u_j / temperature, so with G the gradient of the scores that of u is
 * (G + G^T) u / temperature; here for the shard's rows. */
static void back_to_vectors(struct trainer *t, const struct shard *s, struct gpu_queue *q)
{
    size_t n = t->batch.all.n, d = t->model->config.d_model;
    float *du = t->dvectors + s->first * d, by = (float)(1 / t->config.temperature);
    struct gpu_matmul mm = {.m = s->s.n,
                            .n = d,
                            .k = n,
                            .alpha = by,
                            .a = t->scores + s->first * n,
                            .lda = n,
                            .b = t->units,
                            .ldb = d,
                            .c = du,
                            .ldc = d};
    q->op->matmul(q, &mm);
    mm.ta = mm.accumulate = true;
    mm.a = t->scores + s->first;
    q->op->matmul(q, &mm);
    q->op->normalize_back(q, du, du, t->units + s->first * d, t->norms + s->first, s->s.n, d);
}

static void backward_group(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    size_t per_group = t->n_shards / LEARN_GROUPS, d = t->model->config.d_model;
    struct nn_weights w = {t->weights, t->sinusoids, t->config.precision};
    q->op->fill(q, t->groups[item], t->model->total, 0);
    for (size_t i = item * per_group; i < (item + 1) * per_group; i++) {
        struct shard *s = &t->shards[i];
        struct nn_dropout drop = shard_dropout(t, s);
        if (s->s.n == 0)
            continue;
        back_to_vectors(t, s, q);
        nn_encoder_backward(q, t->groups[item], t->dvectors + s->first * d, t->model, &w, &s->tape,
                            &t->scratch[q->index], &drop);
    }
}

static size_t block_length(const struct trainer *t, size_t item)
{
    size_t left = t->model->total - item * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

static void reduce_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    size_t at = item * BLOCK, n = block_length(t, item);
    const float *parts[LEARN_GROUPS];
    for (size_t i = 0; i < LEARN_GROUPS; i++)
        parts[i] = t->groups[i] + at;
    q->op->sum_many(q, t->gradient + at, parts, LEARN_GROUPS, n);
    q->op->sum_squares(q, &t->squares[item], t->gradient + at, n);
}

static void update_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    size_t at = item * BLOCK, n = block_length(t, item);
    q->op->adamw(q, t->weights + at, t->m + at, t->v + at, t->gradient + at, n, &t->how);
}

/* ---- the step ---- */

static void load_batch(struct trainer *t)
{
    const struct batch *b = &t->batch;
    size_t n = b->all.n;
    uint32_t *target = arena_array(&t->arena, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        target[i] = (uint32_t)((i + n / 2) % n);
    gpu_write(t->queue, t->target, target, n * sizeof *target);
    gpu_write(t->queue, t->group, b->group, n * sizeof *b->group);
    for (size_t i = 0; i < t->n_shards; i++)
        nn_tape_load(t->queue, &t->shards[i].tape, t->model, &t->shards[i].s, &t->arena);
}

static void read_loss(struct step_result *r, struct trainer *t)
{
    size_t n = t->batch.all.n;
    float *values = arena_array(&t->arena, float, 2 * n);
    gpu_read(t->queue, values, t->loss, n * sizeof *values);
    gpu_read(t->queue, values + n, t->correct, n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        r->loss += values[i] / (double)n;
        r->accuracy += values[n + i] / (double)n;
    }
}

/* Loss of t->batch; its scores' gradients stay. */
static enum err_code evaluate(struct step_result *r, struct trainer *t, double dropout,
                              struct err *e)
{
    *r = (struct step_result){0};
    t->dropout = (struct nn_dropout){
        .rate = (float)dropout,
        .key = rng_at(t->config.seed, STREAM_DROPOUT, t->steps),
    };
    enum err_code code;
    cut(t, &t->batch.all);
    if ((code = err_up(e, make_room(t, &t->batch.all, e))))
        return code;
    load_batch(t);
    if ((code = err_up(e, gpu_finish(t->queue, e))))
        return code;
    size_t loss_blocks = (t->batch.all.n + LOSS_ROWS - 1) / LOSS_ROWS;
    if ((code = err_up(e, gpu_each(t->device, t->n_shards, forward_shard, t, e))) ||
        (code = err_up(e, gpu_each(t->device, loss_blocks, loss_rows, t, e))))
        return code;
    read_loss(r, t);
    return err_up(e, gpu_finish(t->queue, e));
}

/* Loss and gradient of t->batch, on t->steps. */
static enum err_code differentiate(struct step_result *r, struct trainer *t, struct err *e)
{
    enum err_code code;
    if ((code = err_up(e, evaluate(r, t, t->config.dropout, e))) ||
        (code = err_up(e, gpu_each(t->device, LEARN_GROUPS, backward_group, t, e))) ||
        (code = err_up(e, gpu_each(t->device, n_blocks(t), reduce_block, t, e))))
        return code;
    double sum = 0;
    for (size_t i = 0; i < n_blocks(t); i++)
        sum += t->squares[i];
    r->gradient_norm = sqrt(sum);
    r->lr = schedule_lr(&t->config.schedule, t->steps);
    r->tokens = t->batch.all.offset[t->batch.all.n];
    return OK;
}

static bool all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Names the first parameter whose value, else whose gradient, is not finite. */
static enum err_code fail_not_finite(struct trainer *t, const struct step_result *r, struct err *e)
{
    const struct nn_model *m = t->model;
    float *host = malloc(m->total * sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", m->count);
    const char *what = "", *name = "the loss";
    const float *vectors[] = {t->weights, t->gradient};
    const char *whats[] = {"", "the gradient of "};
    for (int k = 0; k < 2 && !*what && strcmp(name, "the loss") == 0; k++) {
        gpu_read(t->queue, host, vectors[k], m->total * sizeof *host);
        for (size_t i = 0; i < m->n_params; i++)
            if (!all_finite(host + m->params[i].at, m->params[i].size)) {
                what = whats[k];
                name = m->params[i].name;
                break;
            }
    }
    free(host);
    uint64_t n = t->config.batch;
    return err_fail(e, ERR_FAILED,
                    "step %llu: %s%s is not finite (loss %g, gradient norm %g), on pairs %llu to "
                    "%llu",
                    (unsigned long long)t->steps + 1, what, name, r->loss, r->gradient_norm,
                    (unsigned long long)(t->steps * n), (unsigned long long)(t->steps * n + n - 1));
}

/* The step on t->batch. */
static enum err_code step(struct step_result *r, struct trainer *t, struct err *e)
{
    const struct trainer_config *c = &t->config;
    enum err_code code = differentiate(r, t, e);
    if (code)
        return err_up(e, code);
    if (!isfinite(r->loss) || !isfinite(r->gradient_norm))
        return fail_not_finite(t, r, e);
    double n = (double)(t->steps + 1), scale = 1;
    if (c->clip > 0 && r->gradient_norm + 1e-6 > c->clip)
        scale = c->clip / (r->gradient_norm + 1e-6);
    t->how = (struct gpu_adamw){.lr = (float)r->lr,
                                .beta1 = (float)c->beta1,
                                .beta2 = (float)c->beta2,
                                .eps = (float)c->eps,
                                .weight_decay = (float)c->weight_decay,
                                .correction1 = (float)(1 - pow(c->beta1, n)),
                                .correction2 = (float)(1 - pow(c->beta2, n)),
                                .scale = (float)scale};
    code = gpu_each(t->device, n_blocks(t), update_block, t, e);
    if (!code)
        t->steps++;
    return err_up(e, code);
}

static void set_batch(struct trainer *t, const struct nn_sequences *s, const uint32_t *group)
{
    t->batch.all = *s;
    t->batch.group = arena_memdup(&t->arena, group, s->n * sizeof *group);
}

enum err_code trainer_step(struct step_result *r, struct trainer *t, const struct dataset *d,
                           struct err *e)
{
    arena_reset(&t->arena);
    gather(t, d, STREAM_PAIRS, t->steps);
    return err_up(e, step(r, t, e));
}

enum err_code trainer_measure(struct step_result *r, struct trainer *t, const struct dataset *d,
                              size_t batches, struct err *e)
{
    struct step_result sum = {0};
    for (size_t i = 0; i < batches; i++) {
        arena_reset(&t->arena);
        gather(t, d, STREAM_VALIDATION, i);
        enum err_code code = evaluate(r, t, 0, e);
        if (code)
            return err_up(e, code);
        sum.loss += r->loss / (double)batches;
        sum.accuracy += r->accuracy / (double)batches;
    }
    *r = sum;
    return OK;
}

enum err_code trainer_step_on(struct step_result *r, struct trainer *t,
                              const struct nn_sequences *s, const uint32_t *group, struct err *e)
{
    arena_reset(&t->arena);
    set_batch(t, s, group);
    return err_up(e, step(r, t, e));
}

enum err_code trainer_gradient(struct step_result *r, float *gradient, struct trainer *t,
                               const struct nn_sequences *s, const uint32_t *group, struct err *e)
{
    arena_reset(&t->arena);
    set_batch(t, s, group);
    enum err_code code = differentiate(r, t, e);
    if (code)
        return err_up(e, code);
    gpu_read(t->queue, gradient, t->gradient, t->model->total * sizeof *gradient);
    return err_up(e, gpu_finish(t->queue, e));
}
