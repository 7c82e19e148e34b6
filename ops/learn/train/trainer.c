#include "ops/learn/train/trainer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

enum err_code trainer_alloc(void *out, void *trainer, size_t bytes, struct err *e)
{
    struct trainer *t = trainer;
    assert(t->n_parts < TRAINER_PARTS);
    enum err_code code = gpu_alloc(&t->parts[t->n_parts], t->device, bytes, e);
    if (!code)
        *(void **)out = t->parts[t->n_parts++];
    return err_up(e, code);
}

static size_t blocks_of(const struct trainer *t, size_t n)
{
    return (n + t->device->cuts.block - 1) / t->device->cuts.block;
}

static enum err_code alloc(struct trainer *t, struct err *e)
{
    const struct trainer_config *c = &t->config;
    size_t n = c->table->total, bytes = n * sizeof(float);
    enum err_code code;
    update_plan_make(&t->plan, &t->own, c->table, c->learnt, c->optimizer.kind,
                     t->device->cuts.block);
    if ((code = trainer_alloc(&t->weights, t, bytes, e)) ||
        (code = trainer_alloc(&t->m, t, bytes, e)) || (code = trainer_alloc(&t->v, t, bytes, e)) ||
        (code = trainer_alloc(&t->squares, t, blocks_of(t, c->learnt) * sizeof *t->squares, e)) ||
        (code = trainer_alloc(&t->outcome, t, sizeof *t->outcome, e)) ||
        (code = trainer_alloc(&t->pair, t, 2 * sizeof *t->pair, e)) ||
        (t->plan.scratch &&
         (code = trainer_alloc(&t->update_work, t, t->device->queues * t->plan.scratch, e))) ||
        (c->rounded && (code = trainer_alloc(&t->rounded, t, gpu_bytes(GPU_TYPE_BF16, n), e))))
        return err_up(e, code);
    for (size_t i = 0; i < t->n_groups && !code; i++)
        code = trainer_alloc(&t->groups[i], t, t->gradient * sizeof(float), e);
    for (size_t i = 0; i < TRAINER_AHEAD && !code; i++)
        code = gpu_later_new(&t->later[i], t->queue, sizeof *t->outcome, e);
    return err_up(e, code);
}

static void round_weights(struct trainer *t)
{
    size_t n = t->config.table->total;
    if (t->rounded)
        t->queue->op->round_bf16(t->queue, t->rounded, t->weights, 1, n, n);
}

static enum err_code initialise(struct trainer *t, struct err *e)
{
    static const struct gpu_outcome none;
    const struct nn_table *table = t->config.table;
    float *host = malloc(table->total * sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for a model of %zu parameters", table->count);
    nn_table_init(host, table, t->config.seed);
    if (t->network->initialise)
        t->network->initialise(host, t);
    gpu_write(t->queue, t->weights, host, table->total * sizeof *host);
    gpu_write(t->queue, t->outcome, &none, sizeof none);
    free(host);
    round_weights(t);
    return err_up(e, gpu_finish(t->queue, e));
}

enum err_code trainer_open(void *out, void *self, const struct network *network,
                           struct gpu_device *device, const struct trainer_config *c, struct err *e)
{
    struct trainer *t = self;
    t->network = network;
    t->config = *c;
    t->config.learnt = c->learnt ? c->learnt : c->table->total;
    t->gradient = t->config.learnt + c->auxiliary;
    t->device = t->memory.device = device;
    t->n_groups = device->cuts.groups;
    enum err_code code;
    if ((code = gpu_queue_new(&t->queue, device, e)) || (code = alloc(t, e)) ||
        (code = initialise(t, e)) || (code = network->open(t, e)) ||
        (code = gpu_finish(t->queue, e)))
        trainer_free(t);
    else
        *(void **)out = t;
    return err_up(e, code);
}

void trainer_free(void *trainer)
{
    struct trainer *t = trainer;
    if (!t)
        return;
    if (t->network->close)
        t->network->close(t);
    while (t->n_parts)
        gpu_free(t->device, t->parts[--t->n_parts]);
    nn_buffer_free(&t->memory);
    for (size_t i = 0; i < TRAINER_AHEAD; i++)
        gpu_later_free(t->later[i]);
    gpu_queue_free(t->queue);
    arena_free(&t->own);
    arena_free(&t->arena);
    free(t);
}

/* ---- gradient and update ---- */

/* Returns the number of floats of block `item` of n. */
static size_t block_length(const struct trainer *t, size_t item, size_t n)
{
    size_t block = t->device->cuts.block, left = n - item * block;
    return left < block ? left : block;
}

static void clear_group(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    q->op->fill(q, t->groups[item], t->gradient, 0);
}

static void reduce_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    size_t at = item * t->device->cuts.block;
    const float *parts[GPU_GROUPS];
    for (size_t i = 0; i < t->n_groups; i++)
        parts[i] = t->groups[i] + at;
    if (t->n_groups > 1)
        q->op->sum_many(q, t->groups[0] + at, parts, t->n_groups,
                        block_length(t, item, t->gradient));
}

static void square_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    q->op->sum_squares(q, &t->squares[item], t->groups[0] + item * t->device->cuts.block,
                       block_length(t, item, t->config.learnt));
}

static void reduce_and_square(void *arg, size_t item, struct gpu_queue *q)
{
    reduce_block(arg, item, q);
    square_block(arg, item, q);
}

/* Sums the groups into the first, and squares that. */
static enum err_code sum(struct trainer *t, struct err *e)
{
    size_t blocks = blocks_of(t, t->config.learnt);
    enum err_code code;
    if (!t->network->summed)
        return err_up(e, gpu_each(t->queue, blocks, reduce_and_square, t, e));
    if ((code = gpu_each(t->queue, blocks_of(t, t->gradient), reduce_block, t, e)) ||
        (code = t->network->summed(t, e)))
        return err_up(e, code);
    return err_up(e, gpu_each(t->queue, blocks, square_block, t, e));
}

static void update(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    struct update_state s = {t->weights, t->rounded, t->m, t->v, t->groups[0]};
    /* NULL if the plan needs none */
    char *work = t->plan.scratch ? (char *)t->update_work + q->index * t->plan.scratch : NULL;
    update_piece(q, &t->plan.pieces[item], &s, &t->how, work);
}

/* ---- the batch ---- */

void trainer_set_loss(void *trainer, double loss, double accuracy)
{
    struct trainer *t = trainer;
    double pair[] = {loss, accuracy};
    gpu_write(t->queue, t->pair, pair, sizeof pair);
    t->sums = (struct loss_sums){t->pair, 1, 1};
}

/* Computes the sums of t->batch, and unless measuring the gradients of the outputs. */
static enum err_code evaluate(struct trainer *t, bool training, struct err *e)
{
    const struct network *n = t->network;
    struct nn_block inputs;
    enum err_code code;
    t->training = training;
    t->examples = n->cut(t);
    if ((code = nn_buffer_lay_out(&inputs, &t->memory, t->examples, n->lay_out, t, &t->arena, e)) ||
        (training && (code = gpu_each(t->queue, t->n_groups, clear_group, t, e))) ||
        (code = n->load(t, &inputs, e)) || (code = n->forward(t, e)) ||
        (n->loss && (code = n->loss(t, e))))
        return err_up(e, code);
    return OK;
}

/* Computes loss and gradient of t->batch at t->steps, into t->outcome. */
static enum err_code differentiate(struct trainer *t, struct err *e)
{
    enum err_code code;
    if ((code = evaluate(t, true, e)) ||
        (t->network->backward && (code = t->network->backward(t, e))) || (code = sum(t, e)))
        return err_up(e, code);
    t->queue->op->conclude(t->queue, t->outcome, t->sums.at, t->sums.n, t->sums.by, t->squares,
                           blocks_of(t, t->config.learnt), t->config.optimizer.clip);
    return OK;
}

static const void *draw(struct trainer *t, bool measuring, uint64_t index)
{
    arena_reset(&t->arena);
    return t->batches->draw(t->batches, &t->arena, measuring, index);
}

/* ---- the step ---- */

static struct step_result result_of(const struct trainer *t)
{
    return (struct step_result){.step = t->steps + 1,
                                .lr = schedule_lr(&t->config.optimizer.schedule, t->steps),
                                .tokens = t->tokens};
}

static void take_outcome(struct step_result *r, const struct gpu_outcome *o)
{
    r->loss = o->loss;
    r->accuracy = o->accuracy;
    r->gradient_norm = o->norm;
}

/* Fails with the name of the first parameter whose value, else whose gradient, is not finite. */
static enum err_code fail_not_finite(struct trainer *t, const struct step_result *r, struct err *e)
{
    const struct nn_table *table = t->config.table;
    float *host = calloc(table->total, sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", table->count);
    const char *what = "", *name = "the loss";
    const float *vectors[] = {t->weights, t->groups[0]};
    const char *whats[] = {"", "the gradient of "};
    const struct nn_param *bad = NULL;
    for (int k = 0; k < 2 && !bad; k++) {
        gpu_read(t->queue, host, vectors[k], (k ? t->config.learnt : table->total) * sizeof *host);
        if ((bad = nn_table_not_finite(table, host))) {
            what = whats[k];
            name = bad->name;
        }
    }
    free(host);
    uint64_t n = t->examples;
    return err_fail(e, ERR_FAILED,
                    "step %" PRIu64 ": %s%s is not finite (loss %g, gradient norm %g), on examples "
                    "%" PRIu64 " to %" PRIu64, /* the sign of NaN is meaningless */
                    t->steps + 1, what, name, isnan(r->loss) ? (double)NAN : r->loss,
                    fabs(r->gradient_norm), t->steps * n, t->steps * n + n - 1);
}

/* Begins the step on t->batch. */
static enum err_code begin(struct trainer *t, struct err *e)
{
    size_t at = t->steps % TRAINER_AHEAD;
    assert(t->pending < TRAINER_AHEAD);
    enum err_code code = differentiate(t, e);
    if (code)
        return err_up(e, code);
    t->begun[at] = result_of(t);
    t->how = update_step(&t->config.optimizer, t->config.precision, t->steps, t->outcome);
    gpu_read_later(t->later[at], t->outcome);
    if ((code = gpu_each(t->queue, t->plan.n_pieces, update, t, e)))
        return err_up(e, code);
    t->steps++;
    t->pending++;
    return OK;
}

/* Reverts to the state before the step, after its update and later ones were skipped. Its gradient
 * is valid unless another step has begun since. */
static enum err_code undo(struct trainer *t, const struct step_result *r, struct err *e)
{
    static const struct gpu_outcome none;
    enum err_code code = OK;
    t->steps = r->step - 1;
    gpu_write(t->queue, t->outcome, &none, sizeof none);
    if (t->pending) {
        t->batch = draw(t, false, t->steps);
        code = differentiate(t, e);
        gpu_write(t->queue, t->outcome, &none, sizeof none);
        t->pending = 0;
    }
    return err_up(e, code ? code : fail_not_finite(t, r, e));
}

enum err_code trainer_begin(void *trainer, struct batches *b, struct err *e)
{
    struct trainer *t = trainer;
    t->batches = b;
    t->batch = draw(t, false, t->steps);
    return err_up(e, begin(t, e));
}

enum err_code trainer_result(struct step_result *r, void *trainer, struct err *e)
{
    struct trainer *t = trainer;
    size_t at = (t->steps - t->pending) % TRAINER_AHEAD;
    const void *data;
    assert(t->pending > 0);
    t->pending--;
    enum err_code code = gpu_await(&data, t->later[at], e);
    if (code)
        return err_up(e, code);
    const struct gpu_outcome *o = data;
    *r = t->begun[at];
    take_outcome(r, o);
    if (o->skip)
        return err_up(e, undo(t, r, e));
    if (t->network->moved)
        t->network->moved(t);
    return OK;
}

enum err_code trainer_step(struct step_result *r, void *trainer, struct batches *b, struct err *e)
{
    enum err_code code = trainer_begin(trainer, b, e);
    return err_up(e, code ? code : trainer_result(r, trainer, e));
}

enum err_code trainer_step_on(struct step_result *r, void *trainer, const void *batch,
                              struct err *e)
{
    struct trainer *t = trainer;
    arena_reset(&t->arena);
    t->batch = batch;
    enum err_code code = begin(t, e);
    return err_up(e, code ? code : trainer_result(r, t, e));
}

/* ---- without a step ---- */

static enum err_code measure(struct step_result *r, struct trainer *t, struct err *e)
{
    *r = (struct step_result){0};
    enum err_code code = evaluate(t, false, e);
    if (code)
        return err_up(e, code);
    double *sums = arena_array(&t->arena, double, 2 * t->sums.n);
    gpu_read(t->queue, sums, t->sums.at, 2 * t->sums.n * sizeof *sums);
    if ((code = gpu_finish(t->queue, e)))
        return err_up(e, code);
    for (size_t k = 0; k < t->sums.n; k++) {
        r->loss += sums[2 * k] / t->sums.by;
        r->accuracy += sums[2 * k + 1] / t->sums.by;
    }
    return OK;
}

enum err_code trainer_measure(struct step_result *r, void *trainer, struct batches *b,
                              uint64_t index, struct err *e)
{
    struct trainer *t = trainer;
    t->batches = b;
    t->batch = draw(t, true, index);
    return err_up(e, measure(r, t, e));
}

enum err_code trainer_measure_on(struct step_result *r, void *trainer, const void *batch,
                                 struct err *e)
{
    struct trainer *t = trainer;
    arena_reset(&t->arena);
    t->batch = batch;
    return err_up(e, measure(r, t, e));
}

enum err_code trainer_gradient(struct step_result *r, float *gradient, void *trainer,
                               const void *batch, struct err *e)
{
    static const struct gpu_outcome none;
    struct trainer *t = trainer;
    struct gpu_outcome o;
    arena_reset(&t->arena);
    t->batch = batch;
    enum err_code code = differentiate(t, e);
    if (code)
        return err_up(e, code);
    memset(gradient, 0, t->config.table->total * sizeof *gradient);
    gpu_read(t->queue, gradient, t->groups[0], t->config.learnt * sizeof *gradient);
    gpu_read(t->queue, &o, t->outcome, sizeof o);
    gpu_write(t->queue, t->outcome, &none, sizeof none);
    *r = result_of(t);
    code = gpu_finish(t->queue, e);
    take_outcome(r, &o);
    return err_up(e, code);
}

/* ---- state ---- */

enum err_code trainer_read(struct trainer_state *out, void *trainer, struct err *e)
{
    struct trainer *t = trainer;
    float *to[] = {out->weights, out->m, out->v};
    const float *from[] = {t->weights, t->m, t->v};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i])
            gpu_read(t->queue, to[i], from[i], t->config.table->total * sizeof(float));
    out->steps = t->steps;
    return err_up(e, gpu_finish(t->queue, e));
}

enum err_code trainer_write(void *trainer, const struct trainer_state *state, struct err *e)
{
    struct trainer *t = trainer;
    size_t bytes = t->config.table->total * sizeof(float);
    gpu_write(t->queue, t->weights, state->weights, bytes);
    gpu_write(t->queue, t->m, state->m, bytes);
    gpu_write(t->queue, t->v, state->v, bytes);
    t->steps = state->steps;
    if (t->network->replaced)
        t->network->replaced(t, state->weights);
    round_weights(t);
    return err_up(e, gpu_finish(t->queue, e));
}
