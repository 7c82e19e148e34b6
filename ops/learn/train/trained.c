#include "ops/learn/train/trained.h"

#include <math.h>
#include <stdlib.h>

static size_t blocks_of(const struct trained *x, size_t n)
{
    return (n + x->device->cuts.block - 1) / x->device->cuts.block;
}

/* Floats of block `item` of n. */
static size_t block_length(const struct trained *x, size_t item, size_t n)
{
    size_t block = x->device->cuts.block, left = n - item * block;
    return left < block ? left : block;
}

static enum err_code alloc(struct trained *x, struct err *e)
{
    size_t bytes = x->table->total * sizeof(float);
    struct {
        void **to;
        size_t bytes;
    } parts[] = {
        {(void **)&x->weights, bytes},
        {(void **)&x->m, bytes},
        {(void **)&x->v, bytes},
        {(void **)&x->squares, blocks_of(x, x->learnt) * sizeof *x->squares},
        {(void **)&x->outcome, sizeof *x->outcome},
    };
    enum err_code code = OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = gpu_alloc(parts[i].to, x->device, parts[i].bytes, e);
    for (size_t i = 0; i < x->device->cuts.groups && !code; i++)
        code = gpu_alloc((void **)&x->groups[i], x->device, x->gradient * sizeof(float), e);
    return err_up(e, code);
}

enum err_code trained_open(struct trained *x, struct gpu_device *device,
                           const struct nn_table *table, size_t learnt, size_t gradient,
                           uint64_t seed, struct err *e)
{
    static const struct gpu_outcome as_it_is = {.scale = 1};
    *x = (struct trained){.device = device, .table = table, .learnt = learnt, .gradient = gradient};
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

void trained_close(struct trained *x)
{
    void *parts[] = {x->weights, x->m, x->v, x->squares, x->outcome};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        gpu_free(x->device, parts[i]);
    for (size_t i = 0; i < GPU_GROUPS; i++)
        gpu_free(x->device, x->groups[i]);
    if (x->queue)
        gpu_queue_free(x->queue);
}

enum err_code trained_reserve(void **memory, size_t *size, struct gpu_device *d, size_t bytes,
                              size_t n, const char *what, struct err *e)
{
    if (bytes <= *size)
        return OK;
    gpu_free(d, *memory);
    *memory = NULL;
    *size = 0;
    size_t grown = bytes + bytes / 16; /* batches differ by a few percent */
    enum err_code code = gpu_alloc(memory, d, grown, e);
    size_t room = code == ERR_NOMEM ? gpu_room(d) : 0;
    if (room)
        return err_fail(
            e, ERR_NOMEM, "a batch of %zu %s needs %zu MiB, and %zu are free: about %zu would fit",
            n, what, grown >> 20, room >> 20, (size_t)((double)n * (double)room / (double)grown));
    *size = code ? 0 : grown;
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
    return err_up(e, gpu_each(x->queue, x->device->cuts.groups, clear_group, x, e));
}

static void reduce_block(void *arg, size_t item, struct gpu_queue *q)
{
    struct trained *x = arg;
    size_t at = item * x->device->cuts.block, groups = x->device->cuts.groups;
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

enum err_code trained_norm(double *out, struct trained *x, struct err *e)
{
    size_t n = blocks_of(x, x->learnt);
    double sum = 0, *squares = malloc(n * sizeof *squares);
    if (!squares)
        return err_fail(e, ERR_NOMEM, "no memory for a gradient's norm");
    enum err_code code = gpu_each(x->queue, n, square_block, x, e);
    gpu_read(x->queue, squares, x->squares, n * sizeof *squares);
    if (!code)
        code = gpu_finish(x->queue, e);
    for (size_t i = 0; i < n && !code; i++)
        sum += squares[i];
    free(squares);
    *out = sqrt(sum);
    return err_up(e, code);
}

static void update(void *arg, size_t item, struct gpu_queue *q)
{
    struct trained *x = arg;
    size_t at = item * x->device->cuts.block;
    q->op->adamw(q, x->weights + at, NULL, x->m + at, x->v + at, x->groups[0] + at,
                 block_length(x, item, x->learnt), &x->how);
}

enum err_code trained_update(struct trained *x, double lr, struct err *e)
{
    double n = (double)(x->steps + 1);
    x->how = (struct gpu_adamw){.lr = (float)lr,
                                .beta1 = 0.9F,
                                .beta2 = 0.999F,
                                .eps = 1e-8F,
                                .coupled = true,
                                .correction1 = (float)(1 - pow(0.9, n)),
                                .correction2 = (float)(1 - pow(0.999, n)),
                                .outcome = x->outcome};
    enum err_code code = gpu_each(x->queue, blocks_of(x, x->learnt), update, x, e);
    x->steps += !code;
    return err_up(e, code);
}

/* ---- state ---- */

enum err_code trained_read(struct trainer_state *out, struct trained *x, struct err *e)
{
    float *to[] = {out->weights, out->m, out->v};
    const float *from[] = {x->weights, x->m, x->v};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        if (to[i])
            gpu_read(x->queue, to[i], from[i], x->table->total * sizeof(float));
    out->steps = x->steps;
    return err_up(e, gpu_finish(x->queue, e));
}

enum err_code trained_write(struct trained *x, const struct trainer_state *state, struct err *e)
{
    size_t bytes = x->table->total * sizeof(float);
    gpu_write(x->queue, x->weights, state->weights, bytes);
    gpu_write(x->queue, x->m, state->m, bytes);
    gpu_write(x->queue, x->v, state->v, bytes);
    x->steps = state->steps;
    return err_up(e, gpu_finish(x->queue, e));
}
