/* The functions of gpu.h, dispatched to the device's back end. */
#include "gpu/gpu.h"

void gpu_close(struct gpu_device *d)
{
    if (d)
        d->calls->close(d);
}

enum err_code gpu_alloc(void **out, struct gpu_device *d, size_t bytes, struct err *e)
{
    return err_up(e, d->calls->alloc(out, d, bytes, e));
}

void gpu_free(struct gpu_device *d, void *memory)
{
    if (memory)
        d->calls->free(d, memory);
}

size_t gpu_room(struct gpu_device *d)
{
    return d->calls->room(d);
}

void gpu_write(struct gpu_queue *q, void *device, const void *host, size_t bytes)
{
    if (bytes)
        q->device->calls->write(q, device, host, bytes);
}

void gpu_read(struct gpu_queue *q, void *host, const void *device, size_t bytes)
{
    if (bytes)
        q->device->calls->read(q, host, device, bytes);
}

enum err_code gpu_later_new(struct gpu_later **out, struct gpu_queue *q, size_t bytes,
                            struct err *e)
{
    return err_up(e, q->device->calls->later_new(out, q, bytes, e));
}

void gpu_later_free(struct gpu_later *l)
{
    if (l)
        l->queue->device->calls->later_free(l);
}

void gpu_read_later(struct gpu_later *l, const void *device)
{
    l->queue->device->calls->read_later(l, device);
}

enum err_code gpu_await(const void **data, struct gpu_later *l, struct err *e)
{
    *data = l->data;
    return err_up(e, l->queue->device->calls->await(l, e));
}

enum err_code gpu_queue_new(struct gpu_queue **out, struct gpu_device *d, struct err *e)
{
    return err_up(e, d->calls->queue_new(out, d, e));
}

void gpu_queue_free(struct gpu_queue *q)
{
    if (q)
        q->device->calls->queue_free(q);
}

enum err_code gpu_finish(struct gpu_queue *q, struct err *e)
{
    return err_up(e, q->device->calls->finish(q, e));
}

enum err_code gpu_each(struct gpu_queue *q, size_t n, gpu_item *fn, void *arg, struct err *e)
{
    return err_up(e, q->device->calls->each(q, n, 0, fn, arg, e));
}

enum err_code gpu_each_in_chains(struct gpu_queue *q, size_t n, size_t chains, gpu_item *fn,
                                 void *arg, struct err *e)
{
    return err_up(e, q->device->calls->each(q, n, chains, fn, arg, e));
}
