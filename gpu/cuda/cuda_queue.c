/* State shared by all ops on a queue: its device, failures, scratch, and copies between host and
 * card through page-locked memory; see cuda_queue.h. */
#include "gpu/cuda/cuda_queue.h"

#include <stdlib.h>
#include <string.h>

/* What a user can do about an error of the driver. */
static const char *advice(cudaError_t status)
{
    switch (status) {
    case cudaErrorUnsupportedPtxVersion:
        return "; the driver is older than the toolkit of the back end: build with "
               "-Dcuda-arch=ARCH for this card, or with an older toolkit (docs/gpu.md)";
    case cudaErrorNoKernelImageForDevice:
        return "; build the back end with -Dcuda-arch=ARCH for this card (docs/gpu.md)";
    default: return "";
    }
}

enum err_code cuda_fail(struct err *e, int index, cudaError_t status, const char *what)
{
    enum err_code code = status == cudaErrorMemoryAllocation ? ERR_NOMEM : ERR_FAILED;
    return err_fail(e, code, "cuda:%d: %s: %s%s", index, what, cudaGetErrorString(status),
                    advice(status));
}

bool cuda_begin(struct gpu_queue *q)
{
    int index = ((struct cuda_queue *)q)->device->index;
    return !q->failure.code && cuda_did(q, cudaSetDevice(index), "choose the card");
}

bool cuda_did(struct gpu_queue *q, cudaError_t status, const char *what)
{
    if (status != cudaSuccess && !q->failure.code)
        cuda_fail(&q->failure, ((struct cuda_queue *)q)->device->index, status, what);
    return status == cudaSuccess;
}

enum err_code cuda_take_failure(struct gpu_queue *q, struct err *e)
{
    enum err_code code = q->failure.code;
    if (code && e)
        *e = q->failure;
    err_clear(&q->failure);
    return code;
}

void cuda_launched(struct gpu_queue *q, const char *kernel)
{
    cuda_did(q, cudaGetLastError(), kernel);
}

void *cuda_scratch(struct gpu_queue *base, size_t bytes)
{
    struct cuda_queue *q = (struct cuda_queue *)base;
    if (base->failure.code)
        return NULL;
    if (q->scratch_size >= bytes && q->scratch)
        return q->scratch;
    size_t size = bytes + bytes / 8 + (1 << 16);
    if (!cuda_begin(base) ||
        !cuda_did(base, cudaStreamSynchronize(q->stream), "wait before scratch grows"))
        return NULL;
    void *old = q->scratch;
    q->scratch = NULL;
    q->scratch_size = 0;
    if (cuda_did(base, cudaFree(old), "give scratch back") &&
        cuda_did(base, cudaMalloc(&q->scratch, size), "memory for scratch"))
        q->scratch_size = size;
    return q->scratch;
}

/* ---- copies: a write returns once the host memory has been read, perhaps before the card's has
 * been written ---- */

bool cuda_staging_open(struct cuda_queue *q)
{
    struct cuda_staging *s = &q->staging;
    bool good =
        cuda_did(&q->base, cudaMallocHost((void **)&s->at, 2 * STAGING_HALF), "page-locked memory");
    for (int i = 0; i < 2 && good; i++)
        good = cuda_did(&q->base, cudaEventCreateWithFlags(&s->done[i], cudaEventDisableTiming),
                        "an event");
    return good;
}

void cuda_staging_close(struct cuda_queue *q)
{
    for (int i = 0; i < 2; i++)
        if (q->staging.done[i])
            cudaEventDestroy(q->staging.done[i]);
    cudaFreeHost(q->staging.at);
}

/* Switches to the other half once its copies are done. An event that was never recorded counts as
 * done. */
static bool change_half(struct cuda_queue *q)
{
    struct cuda_staging *s = &q->staging;
    bool good = cuda_did(&q->base, cudaEventRecord(s->done[s->half], q->stream), "mark copies");
    s->half ^= 1;
    s->used = 0;
    return good && cuda_did(&q->base, cudaEventSynchronize(s->done[s->half]), "wait for copies");
}

static char *take(struct cuda_queue *q, size_t bytes)
{
    struct cuda_staging *s = &q->staging;
    if (s->used + bytes > STAGING_HALF && !change_half(q))
        return NULL;
    char *p = s->at + (size_t)s->half * STAGING_HALF + s->used;
    s->used += (bytes + 255) & ~(size_t)255;
    return p;
}

void cuda_write(struct gpu_queue *base, void *device, const void *host, size_t bytes)
{
    struct cuda_queue *q = (struct cuda_queue *)base;
    for (size_t at = 0, n; at < bytes && cuda_begin(base); at += n) {
        n = bytes - at < STAGING_HALF ? bytes - at : STAGING_HALF;
        char *p = take(q, n);
        if (!p)
            return;
        memcpy(p, (const char *)host + at, n);
        cuda_did(base,
                 cudaMemcpyAsync((char *)device + at, p, n, cudaMemcpyHostToDevice, q->stream),
                 "copy to the card");
    }
}

void cuda_read(struct gpu_queue *base, void *host, const void *device, size_t bytes)
{
    struct cuda_queue *q = (struct cuda_queue *)base;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < STAGING_HALF ? bytes - at : STAGING_HALF;
        char *p = cuda_begin(base) ? take(q, n) : NULL;
        if (p &&
            cuda_did(
                base,
                cudaMemcpyAsync(p, (const char *)device + at, n, cudaMemcpyDeviceToHost, q->stream),
                "copy from the card") &&
            cuda_did(base, cudaStreamSynchronize(q->stream), "wait for a copy"))
            memcpy((char *)host + at, p, n);
        else
            memset((char *)host + at, 0, n); /* the failure is in the queue */
    }
}

/* ---- asynchronous results: page-locked memory and an event of their own ---- */

struct later {
    struct gpu_later base;
    cudaEvent_t there;
};

enum err_code cuda_later_new(struct gpu_later **out, struct gpu_queue *q, size_t bytes,
                             struct err *e)
{
    struct later *l = calloc(1, sizeof *l);
    if (!l)
        return err_fail(e, ERR_NOMEM, "no memory for a result");
    l->base = (struct gpu_later){.queue = q, .bytes = bytes};
    if (cuda_begin(q) && cuda_did(q, cudaMallocHost(&l->base.data, bytes), "page-locked memory") &&
        cuda_did(q, cudaEventCreateWithFlags(&l->there, cudaEventDisableTiming), "an event")) {
        *out = &l->base;
        return OK;
    }
    cuda_later_free(&l->base);
    return cuda_take_failure(q, e);
}

void cuda_later_free(struct gpu_later *base)
{
    struct later *l = (struct later *)base;
    if (l->there) {
        cudaEventSynchronize(l->there); /* the copy may be under way */
        cudaEventDestroy(l->there);
    }
    cudaFreeHost(base->data);
    free(l);
}

void cuda_read_later(struct gpu_later *l, const void *device)
{
    struct gpu_queue *q = l->queue;
    if (cuda_begin(q) &&
        cuda_did(q,
                 cudaMemcpyAsync(l->data, device, l->bytes, cudaMemcpyDeviceToHost, cuda_stream(q)),
                 "copy from the card"))
        cuda_did(q, cudaEventRecord(((struct later *)l)->there, cuda_stream(q)), "mark a copy");
}

enum err_code cuda_await(struct gpu_later *l, struct err *e)
{
    if (cuda_begin(l->queue))
        cuda_did(l->queue, cudaEventSynchronize(((struct later *)l)->there), "wait for a copy");
    return cuda_take_failure(l->queue, e);
}
