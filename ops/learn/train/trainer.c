/* One step of training, for any objective: examples, gradient, update; see trainer.h. */
#include "ops/learn/train/objective.h"

#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum stream { STREAM_INIT = 1, STREAM_DROPOUT, STREAM_PAIRS, STREAM_VALIDATION };

/* ---- life ---- */

static void round_weights(struct trainer *t)
{
    size_t n = t->model->table.total;
    if (t->rounded)
        t->queue->op->round_bf16(t->queue, t->rounded, t->base.weights, 1, n, n);
}

static enum err_code set_up(struct trainer *t, struct gpu_device *device, struct err *e)
{
    const struct nn_config *c = &t->model->config;
    const struct nn_table *params = &t->model->table;
    struct trained *x = &t->base;
    size_t n = params->total, table = (size_t)c->max_length * c->d_model;
    enum err_code code =
        trained_open(x, device, params, n, n, rng_at(t->config.seed, STREAM_INIT, 0), e);
    t->device = device;
    t->queue = x->queue;
    for (size_t i = 0; i < TRAINER_AHEAD && !code; i++)
        code = gpu_later_new(&x->later[i], t->queue, sizeof *x->outcome, e);
    update_plan_make(&t->plan, &x->own, t->model, t->config.optimizer, device->cuts.block);
    if (code || (code = trained_alloc(&t->sinusoids, x, table * sizeof(float), e)) ||
        (t->plan.scratch &&
         (code = trained_alloc(&t->update_work, x, device->queues * t->plan.scratch, e))) ||
        (t->type != GPU_TYPE_F32 &&
         (code = trained_alloc(&t->rounded, x, gpu_bytes(t->type, n), e))))
        return err_up(e, code);
    t->scratch = arena_array(&x->own, struct nn_scratch, device->queues);
    t->work = arena_array(&x->own, struct arena, device->queues);
    float *host = arena_try_alloc(&x->arena, table, sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for %zu numbers", table);
    round_weights(t);
    nn_sinusoids(host, c->max_length, c->d_model);
    gpu_write(t->queue, t->sinusoids, host, table * sizeof *host);
    return err_up(e, gpu_finish(t->queue, e));
}

enum err_code trainer_new(void *out, struct gpu_device *device, const struct nn_model *model,
                          const struct trainer_config *c, struct err *e)
{
    bool generates = objective_generates(c->examples.objective);
    if (generates && !model->config.decoder_layers)
        return err_fail(e, ERR_INPUT, "this objective needs a model with a decoder");
    struct trainer *t = must_calloc(1, sizeof *t);
    t->objective = generates ? &objective_seq2seq : &objective_contrastive;
    t->model = model;
    t->config = *c;
    t->type = nn_stored(device, &model->config, c->precision);
    enum err_code code = set_up(t, device, e);
    if (code)
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
    example_sampler_free(&t->sampler);
    example_sampler_free(&t->measured);
    for (unsigned i = 0; t->work && i < t->device->queues; i++)
        arena_free(&t->work[i]);
    trained_free(t);
}

enum err_code trainer_write(void *trainer, const struct trainer_state *state, struct err *e)
{
    struct trainer *t = trainer;
    enum err_code code = trained_write(t, state, e);
    round_weights(t);
    return err_up(e, code ? code : gpu_finish(t->queue, e));
}

/* ---- the update ---- */

static void update(void *arg, size_t item, struct gpu_queue *q)
{
    struct trainer *t = arg;
    const struct trained *x = &t->base;
    struct update_state s = {x->weights, t->rounded, x->m, x->v, x->groups[0]};
    /* NULL if the plan needs none */
    char *work = t->plan.scratch ? (char *)t->update_work + q->index * t->plan.scratch : NULL;
    update_piece(q, &t->plan.pieces[item], &s, &t->base.how, t->config.precision, work);
}

/* ---- the step ---- */

static void set_dropout(struct trainer *t, double rate, double attention)
{
    t->dropout = (struct nn_dropout){
        .rate = (float)rate,
        .attention = (float)attention,
        .key = rng_at(t->config.seed, STREAM_DROPOUT, t->base.steps),
    };
}

/* Computes loss and gradient of t->batch at t->base.steps, into t->base.outcome. */
static enum err_code differentiate(struct trainer *t, struct err *e)
{
    enum err_code code;
    set_dropout(t, t->config.dropout, t->config.attention_dropout);
    if ((code = err_up(e, t->objective->differentiate(t, e))) ||
        (code = err_up(e, trained_reduce_and_square(&t->base, e))))
        return code;
    t->queue->op->conclude(t->queue, t->base.outcome, t->sums.at, t->sums.n, t->sums.by,
                           t->base.squares, trained_blocks(&t->base), t->config.clip);
    return OK;
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
    const struct nn_model *m = t->model;
    float *host = malloc(m->table.total * sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", m->table.count);
    const char *what = "", *name = "the loss";
    const float *vectors[] = {t->base.weights, t->base.groups[0]};
    const char *whats[] = {"", "the gradient of "};
    const struct nn_param *bad = NULL;
    for (int k = 0; k < 2 && !bad; k++) {
        gpu_read(t->queue, host, vectors[k], m->table.total * sizeof *host);
        if ((bad = nn_table_not_finite(&m->table, host))) {
            what = whats[k];
            name = bad->name;
        }
    }
    free(host);
    uint64_t n = t->config.examples.batch;
    return err_fail(e, ERR_FAILED,
                    "step %llu: %s%s is not finite (loss %g, gradient norm %g), on examples %llu "
                    "to %llu", /* the sign of NaN is meaningless */
                    (unsigned long long)t->base.steps + 1, what, name,
                    isnan(r->loss) ? (double)NAN : r->loss, fabs(r->gradient_norm),
                    (unsigned long long)(t->base.steps * n),
                    (unsigned long long)(t->base.steps * n + n - 1));
}

/* Begins the step on t->batch. */
static enum err_code begin(struct trainer *t, struct err *e)
{
    const struct trainer_config *c = &t->config;
    size_t at = t->base.steps % TRAINER_AHEAD;
    assert(t->pending < TRAINER_AHEAD);
    enum err_code code = differentiate(t, e);
    if (code)
        return err_up(e, code);
    double n = (double)(t->base.steps + 1);
    t->begun[at] = (struct step_result){.step = t->base.steps + 1,
                                        .lr = schedule_lr(&c->schedule, t->base.steps),
                                        .tokens = t->tokens};
    t->base.how = (struct gpu_adamw){.lr = (float)t->begun[at].lr,
                                     .beta1 = (float)c->beta1,
                                     .beta2 = (float)c->beta2,
                                     .eps = (float)c->eps,
                                     .weight_decay = (float)c->weight_decay,
                                     .coupled = c->optimizer == OPTIMIZER_ADAM,
                                     .correction1 = (float)(1 - pow(c->beta1, n)),
                                     .correction2 = (float)(1 - pow(c->beta2, n)),
                                     .outcome = t->base.outcome};
    gpu_read_later(t->base.later[at], t->base.outcome);
    if ((code = gpu_each(t->queue, t->plan.n_pieces, update, t, e)))
        return err_up(e, code);
    t->base.steps++;
    t->pending++;
    return OK;
}

/* Reverts to the state before the step, after its update and later ones were skipped. Its gradient
 * is valid unless another step has begun since. */
static enum err_code undo(struct trainer *t, const struct step_result *r, struct err *e)
{
    static const struct gpu_outcome none;
    enum err_code code = OK;
    t->base.steps = r->step - 1;
    gpu_write(t->queue, t->base.outcome, &none, sizeof none);
    if (t->pending) {
        arena_reset(&t->base.arena);
        trainer_draw(&t->batch, &t->base.arena, &t->sampler, &t->config, &t->model->config,
                     t->sampler.dataset, false, t->base.steps);
        code = differentiate(t, e);
        gpu_write(t->queue, t->base.outcome, &none, sizeof none);
        t->pending = 0;
    }
    return err_up(e, code ? code : fail_not_finite(t, r, e));
}

enum err_code trainer_result(struct step_result *r, void *trainer, struct err *e)
{
    struct trainer *t = trainer;
    size_t at = (t->base.steps - t->pending) % TRAINER_AHEAD;
    const void *data;
    assert(t->pending > 0);
    t->pending--;
    enum err_code code = gpu_await(&data, t->base.later[at], e);
    if (code)
        return err_up(e, code);
    const struct gpu_outcome *o = data;
    *r = t->begun[at];
    take_outcome(r, o);
    return o->skip ? err_up(e, undo(t, r, e)) : OK;
}

void trainer_draw(struct examples *out, struct arena *a, struct example_sampler *sampler,
                  const struct trainer_config *config, const struct nn_config *model,
                  const struct dataset *d, bool measuring, uint64_t index)
{
    struct examples_config c = config->examples;
    if (measuring && c.objective == OBJECTIVE_SIMCSE) /* simcse needs dropout */
        c.objective = OBJECTIVE_CONTRASTIVE;
    if (sampler->dataset != d) {
        example_sampler_free(sampler);
        example_sampler_init(sampler, d,
                             rng_at(config->seed, measuring ? STREAM_VALIDATION : STREAM_PAIRS, 0),
                             c.batch);
        if (c.class_pairs && d->clusters)
            example_sampler_by_pairs(sampler, c.class_pairs);
    }
    examples_gather(out, a, sampler, &c, model->wrap, index);
}

enum err_code trainer_begin(struct trainer *t, const struct dataset *d, struct err *e)
{
    arena_reset(&t->base.arena);
    trainer_draw(&t->batch, &t->base.arena, &t->sampler, &t->config, &t->model->config, d, false,
                 t->base.steps);
    return err_up(e, begin(t, e));
}

enum err_code trainer_step(struct step_result *r, struct trainer *t, const struct dataset *d,
                           struct err *e)
{
    enum err_code code = trainer_begin(t, d, e);
    return err_up(e, code ? code : trainer_result(r, t, e));
}

enum err_code trainer_measure(struct step_result *r, struct trainer *t, const struct dataset *d,
                              uint64_t index, struct err *e)
{
    *r = (struct step_result){0};
    arena_reset(&t->base.arena);
    trainer_draw(&t->batch, &t->base.arena, &t->measured, &t->config, &t->model->config, d, true,
                 index);
    set_dropout(t, 0, 0);
    enum err_code code = t->objective->evaluate(t, e);
    if (code)
        return err_up(e, code);
    double *sums = arena_array(&t->base.arena, double, 2 * t->sums.n);
    gpu_read(t->queue, sums, t->sums.at, 2 * t->sums.n * sizeof *sums);
    if ((code = gpu_finish(t->queue, e)))
        return err_up(e, code);
    for (size_t k = 0; k < t->sums.n; k++) {
        r->loss += sums[2 * k] / t->sums.by;
        r->accuracy += sums[2 * k + 1] / t->sums.by;
    }
    return OK;
}

enum err_code trainer_step_on(struct step_result *r, struct trainer *t, const struct examples *x,
                              struct err *e)
{
    arena_reset(&t->base.arena);
    t->batch = *x;
    enum err_code code = begin(t, e);
    return err_up(e, code ? code : trainer_result(r, t, e));
}

enum err_code trainer_gradient(struct step_result *r, float *gradient, struct trainer *t,
                               const struct examples *x, struct err *e)
{
    static const struct gpu_outcome none;
    struct gpu_outcome o;
    arena_reset(&t->base.arena);
    t->batch = *x;
    enum err_code code = differentiate(t, e);
    if (code)
        return err_up(e, code);
    gpu_read(t->queue, &o, t->base.outcome, sizeof o);
    gpu_write(t->queue, t->base.outcome, &none, sizeof none);
    *r = (struct step_result){.step = t->base.steps + 1,
                              .lr = schedule_lr(&t->config.schedule, t->base.steps),
                              .tokens = t->tokens};
    code = trained_gradient(gradient, t, e);
    take_outcome(r, &o);
    return err_up(e, code);
}
