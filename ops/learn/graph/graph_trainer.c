/* See graph_trainer.h. */
#include "ops/learn/graph/graph_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static enum err_code alloc_device(struct graph_trainer *t, struct err *e)
{
    const struct graph_model *m = t->model;
    size_t total = m->table.total, d = m->config.d, positions = (size_t)m->config.positions * d;
    struct {
        float **to;
        size_t n;
    } parts[] = {
        {&t->weights, total},
        {&t->m, total},
        {&t->v, total},
        {&t->sinusoids, positions},
        {&t->norms, 4 * m->norms * d},
        {&t->table, graph_table_rows(&m->config) * d},
        {(float **)&t->squares, 2 * graph_blocks(t, m->learnt)},
        {(float **)&t->outcome, sizeof *t->outcome / sizeof(float)},
    };
    enum err_code code = OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = gpu_alloc((void **)parts[i].to, t->device, parts[i].n * sizeof(float), e);
    for (size_t i = 0; i < t->device->cuts.groups && !code; i++)
        code =
            gpu_alloc((void **)&t->groups[i], t->device, graph_gradient_size(t) * sizeof(float), e);
    return err_up(e, code);
}

static enum err_code set_up(struct graph_trainer *t, struct err *e)
{
    static const struct gpu_outcome as_it_is = {.scale = 1};
    const struct graph_model *m = t->model;
    enum err_code code = gpu_queue_new(&t->queue, t->device, e);
    if (code || (code = alloc_device(t, e)))
        return err_up(e, code);
    size_t table = (size_t)m->config.positions * m->config.d;
    float *sinusoids = malloc(table * sizeof *sinusoids);
    t->flat = malloc(m->table.total * sizeof *t->flat);
    t->scratch = calloc(t->device->queues, sizeof *t->scratch);
    if (sinusoids && t->flat && t->scratch) {
        nn_table_init(t->flat, &m->table, t->config.seed);
        gpu_write(t->queue, t->weights, t->flat, m->table.total * sizeof *t->flat);
        gpu_write(t->queue, t->outcome, &as_it_is, sizeof as_it_is);
        graph_sinusoids(sinusoids, &m->config);
        gpu_write(t->queue, t->sinusoids, sinusoids, table * sizeof *sinusoids);
        t->norm = arena_array(&t->norm_arena, struct graph_norm, m->norms);
        for (size_t i = 0; i < m->norms; i++)
            graph_norm_alloc(&t->norm[i], &t->norm_arena, m->config.d);
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
    struct graph_trainer *t = calloc(1, sizeof *t);
    if (!t)
        return err_fail(e, ERR_NOMEM, "no memory for a trainer");
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
    void *parts[] = {t->weights, t->m,       t->v,      t->sinusoids, t->table,
                     t->norms,   t->squares, t->memory, t->outcome};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        gpu_free(t->device, parts[i]);
    for (size_t i = 0; i < GPU_GROUPS; i++)
        gpu_free(t->device, t->groups[i]);
    if (t->queue)
        gpu_queue_free(t->queue);
    arena_free(&t->arena);
    arena_free(&t->norm_arena);
    free(t->flat);
    free(t->scratch);
    free(t);
}

uint64_t graph_trainer_steps(const struct graph_trainer *t)
{
    return t->steps;
}

enum err_code graph_trainer_read(struct trainer_state *out, struct graph_trainer *t, struct err *e)
{
    size_t bytes = t->model->table.total * sizeof(float);
    float *to[] = {out->weights, out->m, out->v};
    const float *from[] = {t->weights, t->m, t->v};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i])
            gpu_read(t->queue, to[i], from[i], bytes);
    out->steps = t->steps;
    return err_up(e, gpu_finish(t->queue, e));
}

enum err_code graph_trainer_write(struct graph_trainer *t, const struct trainer_state *state,
                                  struct err *e)
{
    size_t bytes = t->model->table.total * sizeof(float);
    memcpy(t->flat, state->weights, bytes);
    gpu_write(t->queue, t->weights, state->weights, bytes);
    gpu_write(t->queue, t->m, state->m, bytes);
    gpu_write(t->queue, t->v, state->v, bytes);
    t->steps = state->steps;
    return err_up(e, gpu_finish(t->queue, e));
}

/* ---- loss and gradient ---- */

enum err_code graph_trainer_measure(struct step_result *r, struct graph_trainer *t,
                                    const struct graph_set *x, struct err *e)
{
    *r = (struct step_result){0};
    arena_reset(&t->arena);
    enum err_code code = graph_step_forward(t, x, false, e);
    if (!code)
        code = graph_step_losses(r, t, x->graphs, false, e);
    return err_up(e, code);
}

static enum err_code differentiate(struct step_result *r, struct graph_trainer *t,
                                   const struct graph_set *x, struct err *e)
{
    size_t blocks = graph_blocks(t, t->model->learnt);
    enum err_code code;
    *r = (struct step_result){.step = t->steps + 1,
                              .lr = schedule_lr(&t->config.schedule, t->steps)};
    arena_reset(&t->arena);
    if ((code = err_up(e, graph_step_forward(t, x, true, e))) ||
        (code = err_up(e, graph_step_losses(r, t, x->graphs, true, e))) ||
        (code = err_up(e, graph_step_backward(t, e))))
        return code;
    double sum = 0, *squares = arena_array(&t->arena, double, blocks);
    gpu_read(t->queue, squares, t->squares, blocks * sizeof *squares);
    if ((code = err_up(e, gpu_finish(t->queue, e))))
        return code;
    for (size_t i = 0; i < blocks; i++)
        sum += squares[i];
    r->gradient_norm = sqrt(sum);
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
    gpu_read(t->queue, gradient, t->groups[0], t->model->learnt * sizeof *gradient);
    return err_up(e, gpu_finish(t->queue, e));
}

/* ---- the step ---- */

static void update(void *arg, size_t item, struct gpu_queue *q)
{
    struct graph_trainer *t = arg;
    size_t at = item * t->device->cuts.block;
    q->op->adamw(q, t->weights + at, t->m + at, t->v + at, t->groups[0] + at,
                 graph_block_length(t, item, t->model->learnt), &t->how);
}

static void move_running(struct graph_trainer *t)
{
    const struct graph_model *m = t->model;
    for (size_t i = 0; i < m->norms; i++)
        graph_norm_move(t->flat, m, i, &t->norm[i], t->nodes);
    graph_lengths_move(t->flat, m, &t->lengths);
    gpu_write(t->queue, t->weights + m->learnt, t->flat + m->learnt,
              (m->table.total - m->learnt) * sizeof *t->flat);
}

enum err_code graph_trainer_step(struct step_result *r, struct graph_trainer *t,
                                 const struct graph_set *x, struct err *e)
{
    enum err_code code = differentiate(r, t, x, e);
    if (code)
        return err_up(e, code);
    double n = (double)(t->steps + 1);
    if (!isfinite(r->loss) || !isfinite(r->gradient_norm))
        return err_fail(e, ERR_FAILED, "step %.0f: loss %g, gradient norm %g: not finite", n,
                        fabs(r->loss), fabs(r->gradient_norm));
    t->how = (struct gpu_adamw){.lr = (float)r->lr,
                                .beta1 = 0.9F,
                                .beta2 = 0.999F,
                                .eps = 1e-8F,
                                .coupled = true,
                                .correction1 = (float)(1 - pow(0.9, n)),
                                .correction2 = (float)(1 - pow(0.999, n)),
                                .outcome = t->outcome};
    if ((code = err_up(e, gpu_each(t->queue, graph_blocks(t, t->model->learnt), update, t, e))))
        return code;
    move_running(t);
    t->steps++;
    return err_up(e, gpu_finish(t->queue, e));
}
