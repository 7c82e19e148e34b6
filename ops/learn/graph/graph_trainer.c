#include "ops/learn/graph/graph_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static enum err_code alloc_device(struct graph_trainer *t, struct err *e)
{
    const struct graph_model *m = t->model;
    size_t d = m->config.d, positions = (size_t)m->config.positions * d;
    struct {
        float **to;
        size_t n;
    } parts[] = {
        {&t->sinusoids, positions},
        {&t->norms, 4 * m->norms * d},
        {&t->table, graph_table_rows(&m->config) * d},
    };
    enum err_code code = OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = gpu_alloc((void **)parts[i].to, t->device, parts[i].n * sizeof(float), e);
    return err_up(e, code);
}

static enum err_code set_up(struct graph_trainer *t, struct err *e)
{
    const struct graph_model *m = t->model;
    size_t table = (size_t)m->config.positions * m->config.d;
    enum err_code code = trained_open(&t->trained, t->device, &m->table, m->learnt,
                                      m->learnt + table, t->config.seed, e);
    if (code || (code = alloc_device(t, e)))
        return err_up(e, code);
    t->queue = t->trained.queue;
    float *sinusoids = malloc(table * sizeof *sinusoids);
    t->flat = malloc(m->table.total * sizeof *t->flat);
    t->scratch = calloc(t->device->queues, sizeof *t->scratch);
    if (sinusoids && t->flat && t->scratch) {
        gpu_read(t->queue, t->flat, t->trained.weights, m->table.total * sizeof *t->flat);
        graph_sinusoids(sinusoids, &m->config);
        gpu_write(t->queue, t->sinusoids, sinusoids, table * sizeof *sinusoids);
        t->norm = arena_array(&t->norm_arena, struct batch_norm, m->norms);
        for (size_t i = 0; i < m->norms; i++)
            batch_norm_alloc(&t->norm[i], &t->norm_arena, m->config.d);
        code = gpu_finish(t->queue, e);
    } else {
        code = err_fail(e, ERR_NOMEM, "no memory for a model of %zu parameters", m->table.count);
    }
    free(sinusoids);
    return err_up(e, code);
}

enum err_code graph_trainer_new(struct graph_trainer **out, struct gpu_device *device,
                                const struct graph_model *model,
                                const struct graph_trainer_config *c, struct err *e)
{
    struct graph_trainer *t = must_calloc(1, sizeof *t);
    t->device = device;
    t->model = model;
    t->config = *c;
    enum err_code code = set_up(t, e);
    if (code)
        graph_trainer_free(t);
    else
        *out = t;
    return err_up(e, code);
}

void graph_trainer_free(struct graph_trainer *t)
{
    if (!t)
        return;
    void *parts[] = {t->sinusoids, t->table, t->norms, t->memory};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        gpu_free(t->device, parts[i]);
    trained_close(&t->trained);
    arena_free(&t->arena);
    arena_free(&t->norm_arena);
    free(t->flat);
    free(t->scratch);
    free(t);
}

enum err_code graph_trainer_read(struct trainer_state *out, struct graph_trainer *t, struct err *e)
{
    return err_up(e, trained_read(out, &t->trained, e));
}

enum err_code graph_trainer_write(struct graph_trainer *t, const struct trainer_state *state,
                                  struct err *e)
{
    memcpy(t->flat, state->weights, t->model->table.total * sizeof *t->flat);
    return err_up(e, trained_write(&t->trained, state, e));
}

/* ---- loss and gradient ---- */

enum err_code graph_trainer_measure(struct step_result *r, struct graph_trainer *t,
                                    const struct graph_set *x, struct err *e)
{
    *r = (struct step_result){0};
    arena_reset(&t->arena);
    enum err_code code = graph_step_forward(t, x, false, e);
    if (!code)
        code = graph_step_losses(r, t, x, false, e);
    return err_up(e, code);
}

static enum err_code differentiate(struct step_result *r, struct graph_trainer *t,
                                   const struct graph_set *x, struct err *e)
{
    uint64_t steps = t->trained.steps;
    enum err_code code;
    *r = (struct step_result){.step = steps + 1, .lr = schedule_lr(&t->config.schedule, steps)};
    arena_reset(&t->arena);
    if ((code = err_up(e, graph_step_forward(t, x, true, e))) ||
        (code = err_up(e, graph_step_losses(r, t, x, true, e))) ||
        (code = err_up(e, graph_step_backward(t, e))) ||
        (code = err_up(e, trained_norm(&r->gradient_norm, &t->trained, e))))
        return code;
    return OK;
}

enum err_code graph_trainer_gradient(struct step_result *r, float *gradient,
                                     struct graph_trainer *t, const struct graph_set *x,
                                     struct err *e)
{
    enum err_code code = differentiate(r, t, x, e);
    if (code)
        return err_up(e, code);
    memset(gradient, 0, t->model->table.total * sizeof *gradient);
    gpu_read(t->queue, gradient, t->trained.groups[0], t->model->learnt * sizeof *gradient);
    return err_up(e, gpu_finish(t->queue, e));
}

/* ---- the step ---- */

static void move_running(struct graph_trainer *t)
{
    const struct graph_model *m = t->model;
    for (size_t i = 0; i < m->norms; i++)
        batch_norm_move(t->flat + m->mean[i], t->flat + m->variance[i], &t->norm[i], t->nodes,
                        m->config.d);
    graph_lengths_move(t->flat, m, &t->lengths);
    gpu_write(t->queue, t->trained.weights + m->learnt, t->flat + m->learnt,
              (m->table.total - m->learnt) * sizeof *t->flat);
}

enum err_code graph_trainer_step(struct step_result *r, struct graph_trainer *t,
                                 const struct graph_set *x, struct err *e)
{
    enum err_code code = differentiate(r, t, x, e);
    if (code)
        return err_up(e, code);
    if (!isfinite(r->loss) || !isfinite(r->gradient_norm))
        return err_fail(e, ERR_FAILED, "step %llu: loss %g, gradient norm %g: not finite",
                        (unsigned long long)r->step, fabs(r->loss), fabs(r->gradient_norm));
    if ((code = err_up(e, trained_update(&t->trained, r->lr, e))))
        return code;
    move_running(t);
    return err_up(e, gpu_finish(t->queue, e));
}
