/* What all ops on a queue need: its device, failures, scratch. */
#include "gpu/cuda/cuda_queue.h"

enum err_code cuda_fail(struct err *e, int index, cudaError_t status, const char *what)
{
    enum err_code code = status == cudaErrorMemoryAllocation ? ERR_NOMEM : ERR_FAILED;
    return err_fail(e, code, "cuda:%d: %s: %s", index, what, cudaGetErrorString(status));
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
