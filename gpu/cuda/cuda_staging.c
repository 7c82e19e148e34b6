/* Copies between host and card, by page-locked memory; see cuda_queue.h. A write returns when the
 * host's memory has been read, not when the card's has been written. */
#include "gpu/cuda/cuda_queue.h"

#include <string.h>

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

/* The other half, once the copies from it are done. An event that was never recorded is done. */
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
            memset((char *)host + at, 0, n); /* the queue has the failure */
    }
}
