#include "ops/learn/train/trained.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t blocks_of(const struct trained *x, size_t n)
{
    return (n + x->device->cuts.block - 1) / x->device->cuts.block;
}

size_t trained_blocks(const struct trained *x)
{
    return blocks_of(x, x->learnt);
}

/* Returns the number of floats of block `item` of n. */
static size_t block_length(const struct trained *x, size_t item, size_t n)
{
    size_t block = x->device->cuts.block, left = n - item * block;
    return left < block ? left : block;
}

enum err_code trained_alloc(void *out, struct trained *x, size_t bytes, struct err *e)
{
    assert(x->n_parts < TRAINED_PARTS);
    enum err_code code = gpu_alloc(&x->parts[x->n_parts], x->device, bytes, e);
    if (!code)
        *(void **)out = x->parts[x->n_parts++];
    return err_up(e, code);
}

static enum err_code alloc(struct trained *x, struct err *e)
{
    size_t bytes = x->table->total * sizeof(float);
    enum err_code code = trained_alloc(&x->weights, x, bytes, e);
    if (!code && x->learnt &&
        ((code = trained_alloc(&x->m, x, bytes, e)) || (code = trained_alloc(&x->v, x, bytes, e)) ||
         (code = trained_alloc(&x->squares, x, trained_blocks(x) * sizeof *x->squares, e))))
        return err_up(e, code);
    if (!code)
        code = trained_alloc(&x->outcome, x, sizeof *x->outcome, e);
    for (size_t i = 0; i < x->n_groups && !code; i++)
        code = trained_alloc(&x->groups[i], x, x->gradient * sizeof(float), e);
    return err_up(e, code);
}

enum err_code trained_open(struct trained *x, struct gpu_device *device,
                           const struct nn_table *table, size_t learnt, size_t gradient,
                           uint64_t seed, struct err *e)
{
    static const struct gpu_outcome as_it_is = {.scale = 1};
    *x = (struct trained){.device = device,
                          .table = table,
                          .learnt = learnt,
                          .gradient = gradient,
                          .n_groups = device->cuts.groups};
    enum err_code code = gpu_queue_new(&x->queue, device, e);
    if (code || (code = alloc(x, e)))
        return err_up(e, code);
    float *host = malloc(table->total * sizeof *host);
    if (!host)
        return err_fail(e, ERR_NOMEM, "no memory for a model of %zu parameters", table->count);
    nn_table_init(host, table, seed);
    gpu_write(x->queue, x->weights, host, table->total * sizeof *host);
    gpu_write(x->queue, x->outcome, &as_it_is, sizeof as_it_is);
    free(host);
    return err_up(e, gpu_finish(x->queue, e));
}

void trained_free(void *trainer)
{
    struct trained *x = trainer;
    if (!x)
        return;
    while (x->n_parts)
        gpu_free(x->device, x->parts[--x->n_parts]);
    gpu_free(x->device, x->memory);
    for (size_t i = 0; i < sizeof x->later / sizeof *x->later; i++)
        gpu_later_free(x->later[i]);
    gpu_queue_free(x->queue);
    arena_free(&x->own);
    arena_free(&x->arena);
    free(x);
}

enum err_code trained_give(void *out, void *trainer, enum err_code code, struct err *e)
{
    if (code)
        trained_free(trainer);
    else
        *(void **)out = trainer;
    return err_up(e, code);
}

enum err_code trained_reserve(struct trained *x, size_t bytes, size_t n, const char *what,
                              struct err *e)
{
    if (bytes <= x->memory_size)
        return OK;
    gpu_free(x->device, x->memory);
    x->memory = NULL;
    x->memory_size = 0;
    size_t grown = bytes + bytes / 16; /* batches differ by a few percent */
    enum err_code code = gpu_alloc(&x->memory, x->device, grown, e);
    size_t room = code == ERR_NOMEM ? gpu_room(x->device) : 0;
    if (room)
        return err_fail(
            e, ERR_NOMEM, "a batch of %zu %s needs %zu MiB, but %zu are free: about %zu would fit",
            n, what, grown >> 20, room >> 20, (size_t)((double)n * (double)room / (double)grown));
    x->memory_size = code ? 0 : grown;
    return err_up(e, code);
}

/* ---- gradient and update ---- */

static void clear_group(void *arg, size_t item, struct gpu_queue *q)
{
    struct trained *x = arg;
    q->op->fill(q, x->groups[item], x->gradient, 0);
}

enum err_code trained_clear(struct trained *x, struct err *e)
{
    return err_up(e, gpu_each(x->queue, x->n_groups, clear_group, x, e));
}

static void reduce_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trained *x = arg;
    size_t at = item * x->device->cuts.block, groups = x->n_groups;
    const float *parts[GPU_GROUPS];
    for (size_t i = 0; i < groups; i++)
        parts[i] = x->groups[i] + at;
    if (groups > 1)
        q->op->sum_many(q, x->groups[0] + at, parts, groups, block_length(x, item, x->gradient));
}

enum err_code trained_reduce(struct trained *x, struct err *e)
{
    return err_up(e, gpu_each(x->queue, blocks_of(x, x->gradient), reduce_block, x, e));
}

static void square_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trained *x = arg;
    q->op->sum_squares(q, &x->squares[item], x->groups[0] + item * x->device->cuts.block,
                       block_length(x, item, x->learnt));
}

static void reduce_and_square(void *arg, size_t item, struct gpu_queue *q)
{
    reduce_block(arg, item, q);
    square_block(arg, item, q);
}

enum err_code trained_reduce_and_square(struct trained *x, struct err *e)
{
    return err_up(e, gpu_each(x->queue, trained_blocks(x), reduce_and_square, x, e));
}

enum err_code trained_norm(double *out, struct trained *x, struct err *e)
{
    size_t n = trained_blocks(x);
    double sum = 0, *squares = arena_array(&x->arena, double, n);
    enum err_code code = gpu_each(x->queue, n, square_block, x, e);
    gpu_read(x->queue, squares, x->squares, n * sizeof *squares);
    if (!code)
        code = gpu_finish(x->queue, e);
    for (size_t i = 0; i < n && !code; i++)
        sum += squares[i];
    *out = sqrt(sum);
    return err_up(e, code);
}

enum err_code trained_gradient(float *out, void *trainer, struct err *e)
{
    struct trained *x = trainer;
    memset(out, 0, x->table->total * sizeof *out);
    gpu_read(x->queue, out, x->groups[0], x->learnt * sizeof *out);
    return err_up(e, gpu_finish(x->queue, e));
}

enum err_code trained_check(const struct step_result *r, struct err *e)
{
    if (isfinite(r->loss) && isfinite(r->gradient_norm))
        return OK;
    return err_fail(e, ERR_FAILED, "step %" PRIu64 ": loss %g, gradient norm %g: not finite",
                    r->step, fabs(r->loss), fabs(r->gradient_norm));
}

static void update(void *arg, size_t item, struct gpu_queue *q)
{
    struct trained *x = arg;
    size_t at = item * x->device->cuts.block;
    q->op->adamw(q, x->weights + at, NULL, x->m + at, x->v + at, x->groups[0] + at,
                 block_length(x, item, x->learnt), &x->how);
}

enum err_code trained_update(struct trained *x, const struct step_result *r, struct err *e)
{
    double n = (double)(x->steps + 1);
    enum err_code code = trained_check(r, e);
    if (code)
        return err_up(e, code);
    x->how = (struct gpu_adamw){.lr = (float)r->lr,
                                .beta1 = 0.9F,
                                .beta2 = 0.999F,
                                .eps = 1e-8F,
                                .coupled = true,
                                .correction1 = (float)(1 - pow(0.9, n)),
                                .correction2 = (float)(1 - pow(0.999, n)),
                                .outcome = x->outcome};
    code = gpu_each(x->queue, trained_blocks(x), update, x, e);
    x->steps += !code;
    return err_up(e, code);
}

/* ---- state ---- */

enum err_code trained_read(struct trainer_state *out, void *trainer, struct err *e)
{
    struct trained *x = trainer;
    float *to[] = {out->weights, out->m, out->v};
    const float *from[] = {x->weights, x->m, x->v};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i])
            gpu_read(x->queue, to[i], from[i], x->table->total * sizeof(float));
    out->steps = x->steps;
    return err_up(e, gpu_finish(x->queue, e));
}

enum err_code trained_write(void *trainer, const struct trainer_state *state, struct err *e)
{
    struct trained *x = trainer;
    size_t bytes = x->table->total * sizeof(float);
    gpu_write(x->queue, x->weights, state->weights, bytes);
    gpu_write(x->queue, x->m, state->m, bytes);
    gpu_write(x->queue, x->v, state->v, bytes);
    x->steps = state->steps;
    return err_up(e, gpu_finish(x->queue, e));
}
