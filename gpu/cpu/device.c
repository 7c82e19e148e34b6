/* The CPU as a device: its memory is the host's, a queue runs each op at once in the calling
 * thread, and gpu_each spreads items over a pool. */
#include "base/isa.h"
#include "gpu/cpu/amx.h"
#include "gpu/cpu/cpu_queue.h"

#include <stdlib.h>
#include <string.h>

struct gpu_device {
    struct gpu_ops ops;
    struct pool *pool;
    unsigned n_queues;
    struct cpu_queue *queues;
};

#if defined(__x86_64__)
/* Tiles multiply bf16 only. */
static void matmul_with_tiles(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    switch (mm->precision) {
    case GPU_F32: cpu_matmul(q, mm); break;
    case GPU_BF16: amx_matmul(q, mm); break;
    }
}
#endif

static struct gpu_ops isa_table(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "amx") == 0) {
        struct gpu_ops t = cpu_table_avx512();
        t.name = "cpu-amx";
        t.matmul = matmul_with_tiles;
        return t;
    }
    if (strcmp(isa, "avx512") == 0)
        return cpu_table_avx512();
    if (strcmp(isa, "avx2") == 0)
        return cpu_table_avx2();
#endif
    return cpu_table_base();
}

enum err_code gpu_open_cpu(struct gpu_device **out, struct pool *pool, const char *isa,
                           struct err *e)
{
    if (!isa)
        isa = cpu_isa();
    if (!cpu_supports(isa))
        return err_fail(e, ERR_UNSUPPORTED, "this processor does not support '%s'", isa);
    enum err_code code = cpu_prepare_products(e);
    if (code)
        return err_up(e, code);
    struct gpu_device *d = calloc(1, sizeof *d);
    if (!d)
        return err_fail(e, ERR_NOMEM, "no memory for a device");
    d->n_queues = pool_threads(pool);
    d->queues = calloc(d->n_queues, sizeof *d->queues);
    if (!d->queues) {
        gpu_close(d);
        return err_fail(e, ERR_NOMEM, "no memory for a device");
    }
    d->ops = isa_table(isa);
    d->pool = pool;
    for (unsigned i = 0; i < d->n_queues; i++)
        d->queues[i].base = (struct gpu_queue){.op = &d->ops, .device = d, .index = i};
    *out = d;
    return OK;
}

void gpu_close(struct gpu_device *d)
{
    if (!d)
        return;
    for (unsigned i = 0; d->queues && i < d->n_queues; i++)
        free(d->queues[i].scratch);
    free(d->queues);
    free(d);
}

const struct gpu_ops *gpu_device_ops(const struct gpu_device *d)
{
    return &d->ops;
}

unsigned gpu_queues(const struct gpu_device *d)
{
    return d->n_queues;
}

enum err_code gpu_alloc(void **out, struct gpu_device *d, size_t bytes, struct err *e)
{
    if (!(*out = cpu_alloc(bytes)))
        return err_fail(e, ERR_NOMEM, "no memory for %zu KiB of tensors", (bytes + 1023) >> 10);
    memset(*out, 0, bytes);
    return OK;
}

void gpu_free(struct gpu_device *d, void *memory)
{
    free(memory);
}

void gpu_write(struct gpu_queue *q, void *device, const void *host, size_t bytes)
{
    if (bytes)
        memcpy(device, host, bytes);
}

void gpu_read(struct gpu_queue *q, void *host, const void *device, size_t bytes)
{
    if (bytes)
        memcpy(host, device, bytes);
}

enum err_code gpu_queue_new(struct gpu_queue **out, struct gpu_device *d, struct err *e)
{
    struct cpu_queue *q = calloc(1, sizeof *q);
    if (!q)
        return err_fail(e, ERR_NOMEM, "no memory for a queue");
    q->base = (struct gpu_queue){.op = &d->ops, .device = d};
    *out = &q->base;
    return OK;
}

void gpu_queue_free(struct gpu_queue *q)
{
    if (!q)
        return;
    free(((struct cpu_queue *)q)->scratch);
    free(q);
}

enum err_code gpu_finish(struct gpu_queue *q, struct err *e)
{
    enum err_code code = q->failure.code;
    if (code && e)
        *e = q->failure;
    err_clear(&q->failure);
    return code;
}

struct each {
    struct gpu_device *d;
    void (*fn)(void *arg, size_t item, struct gpu_queue *q);
    void *arg;
};

static void run_item(void *arg, size_t item, unsigned worker)
{
    struct each *each = arg;
    each->fn(each->arg, item, &each->d->queues[worker].base);
}

/* The first failure of the first queue that has one; all are cleared. */
static enum err_code finish_all(struct gpu_device *d, struct err *e)
{
    enum err_code code = OK;
    for (unsigned i = 0; i < d->n_queues; i++) {
        enum err_code failure = gpu_finish(&d->queues[i].base, code ? NULL : e);
        code = code ? code : failure;
    }
    return code;
}

enum err_code gpu_each(struct gpu_device *d, size_t n,
                       void (*fn)(void *arg, size_t item, struct gpu_queue *q), void *arg,
                       struct err *e)
{
    struct each each = {d, fn, arg};
    pool_for(d->pool, n, run_item, &each);
    return finish_all(d, e);
}

enum err_code gpu_each_in_chains(struct gpu_device *d, size_t n, size_t chains,
                                 void (*fn)(void *arg, size_t item, struct gpu_queue *q), void *arg,
                                 struct err *e)
{
    struct each each = {d, fn, arg};
    pool_for_chains(d->pool, n, chains, run_item, &each);
    return finish_all(d, e);
}
