/* The CPU as a device: its memory is the host's, a queue runs each op at once in the calling
 * thread, and gpu_each distributes items over a pool. */
#include "base/isa.h"
#include "gpu/cpu/cpu_queue.h"

#include <stdlib.h>
#include <string.h>

/* A shard's layer fits the L2 cache; weights and gradients pass through the caches once per shard.
 * Inference keeps a shard's tensors in cache from one op to the next. */
static const struct gpu_cuts cuts = {.groups = GPU_GROUPS,
                                     .shard_tokens = 512,
                                     .shard_widths = 2,
                                     .block = 1 << 14,
                                     .shard_images = 2,
                                     .loss_rows = 64,
                                     .embed_min = 128,
                                     .embed_max = 512,
                                     .beam_rows = 256,
                                     .shared_rows = 1 << 13};

static struct gpu_ops isa_table(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "amx") == 0) {
        struct gpu_ops t = cpu_table_avx512();
        t.name = "cpu-amx";
        return t;
    }
    if (strcmp(isa, "avx512") == 0)
        return cpu_table_avx512();
    if (strcmp(isa, "avx2") == 0)
        return cpu_table_avx2();
#endif
    return cpu_table_base();
}

static void close_device(struct gpu_device *base)
{
    struct cpu_device *d = (struct cpu_device *)base;
    for (unsigned i = 0; d->queues && i < base->queues; i++)
        free(d->queues[i].scratch);
    free(d->queues);
    cpu_images_close(d->images);
    free(d);
}

static enum err_code alloc(void **out, struct gpu_device *d, size_t bytes, struct err *e)
{
    if (!(*out = cpu_alloc(bytes)))
        return err_fail(e, ERR_NOMEM, "no memory for %zu KiB of tensors", (bytes + 1023) >> 10);
    memset(*out, 0, bytes);
    return OK;
}

static void release(struct gpu_device *d, void *memory)
{
    free(memory);
}

static size_t room(struct gpu_device *d)
{
    return 0;
}

static void write_now(struct gpu_queue *q, void *device, const void *host, size_t bytes)
{
    memcpy(device, host, bytes);
}

static void read_now(struct gpu_queue *q, void *host, const void *device, size_t bytes)
{
    memcpy(host, device, bytes);
}

static enum err_code later_new(struct gpu_later **out, struct gpu_queue *q, size_t bytes,
                               struct err *e)
{
    struct gpu_later *l = malloc(sizeof *l + bytes);
    if (!l)
        return err_fail(e, ERR_NOMEM, "no memory for a result");
    *l = (struct gpu_later){q, l + 1, bytes};
    *out = l;
    return OK;
}

static void later_free(struct gpu_later *l)
{
    free(l);
}

static void read_later(struct gpu_later *l, const void *device)
{
    memcpy(l->data, device, l->bytes);
}

static enum err_code queue_new(struct gpu_queue **out, struct gpu_device *d, struct err *e)
{
    struct cpu_queue *q = must_calloc(1, sizeof *q);
    q->base = (struct gpu_queue){.op = &d->ops, .device = d};
    *out = &q->base;
    return OK;
}

static void queue_free(struct gpu_queue *q)
{
    free(((struct cpu_queue *)q)->scratch);
    free(q);
}

static enum err_code finish(struct gpu_queue *q, struct err *e)
{
    enum err_code code = q->failure.code;
    if (code && e)
        *e = q->failure;
    err_clear(&q->failure);
    return code;
}

static enum err_code await(struct gpu_later *l, struct err *e)
{
    return finish(l->queue, e);
}

struct each {
    struct cpu_device *d;
    gpu_item *fn;
    void *arg;
};

static void run_item(void *arg, size_t item, unsigned worker)
{
    struct each *each = arg;
    each->fn(each->arg, item, &each->d->queues[worker].base);
}

/* Earlier ops on q are already done, so there is nothing to order. Returns the first failure of the
 * first queue that has one; clears all. */
static enum err_code run_each(struct gpu_queue *q, size_t n, size_t chains, gpu_item *fn, void *arg,
                              struct err *e)
{
    struct cpu_device *d = (struct cpu_device *)q->device;
    struct each each = {d, fn, arg};
    if (chains)
        pool_for_chains(d->pool, n, chains, run_item, &each);
    else
        pool_for(d->pool, n, run_item, &each);
    enum err_code code = finish(q, e);
    for (unsigned i = 0; i < d->base.queues; i++) {
        enum err_code failure = finish(&d->queues[i].base, code ? NULL : e);
        code = code ? code : failure;
    }
    return code;
}

static const struct gpu_calls calls = {close_device, alloc,      release,    room,       write_now,
                                       read_now,     later_new,  later_free, read_later, await,
                                       queue_new,    queue_free, finish,     run_each};

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
    struct cpu_device *d = calloc(1, sizeof *d);
    unsigned n = pool_threads(pool);
    if (!d || !(d->queues = calloc(n, sizeof *d->queues)) || !(d->images = cpu_images_open())) {
        free(d ? d->queues : NULL);
        free(d);
        return err_fail(e, ERR_NOMEM, "no memory for a device");
    }
    d->base = (struct gpu_device){&calls, isa_table(isa), cuts, n};
    cpu_fill_outcome(&d->base.ops);
    cpu_fill_images(&d->base.ops);
    d->pool = pool;
    for (unsigned i = 0; i < n; i++)
        d->queues[i].base = (struct gpu_queue){.op = &d->base.ops, .device = &d->base, .index = i};
    *out = &d->base;
    return OK;
}
