/* A card as a device: its memory, its queues, and the table that the main program uses. Queues are
 * asynchronous streams; gpu_each runs its items one after the other on the caller's. One card does
 * a step in few large pieces: one group, one shard, whole vectors. */
#include "gpu/cuda/cuda_queue.h"
#include "gpu/cuda/cudnn_graph.h"
#include "gpu/cuda_plugin.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>

static const struct gpu_cuts cuts = {.groups = 1,
                                     .shard_tokens = (size_t)1 << 40,
                                     .shard_widths = 1,
                                     .block = (size_t)1 << 40,
                                     .shard_images = (size_t)1 << 40,
                                     .loss_rows = (size_t)1 << 40,
                                     .embed_min = 1 << 14,
                                     .embed_max = 1 << 14,
                                     .beam_rows = 1 << 12};

/* ---- memory ---- */

/* Lets CUDA's pool, if there is one, keep up to `idle` freed bytes for reuse: the driver is slow at
 * both allocating and freeing. */
static cudaError_t keep_idle(const struct cuda_device *d, uint64_t idle)
{
    cudaMemPool_t pool;
    if (!d->has_pool)
        return cudaSuccess;
    cudaError_t status = cudaDeviceGetDefaultMemPool(&pool, d->index);
    if (!status)
        status = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &idle);
    return status || idle ? status : cudaMemPoolTrimTo(pool, 0);
}

static void give_back(const struct cuda_device *d, void *memory)
{
    if (d->has_pool)
        cudaFreeAsync(memory, NULL);
    else
        cudaFree(memory);
}

static enum err_code alloc(void **out, struct gpu_device *base, size_t bytes, struct err *e)
{
    struct cuda_device *d = (struct cuda_device *)base;
    size_t left = 0, all = 0;
    void *p = NULL;
    cudaError_t status = cudaSetDevice(d->index);
    if (!status)
        status = d->has_pool ? cudaMallocAsync(&p, bytes ? bytes : 1, NULL)
                             : cudaMalloc(&p, bytes ? bytes : 1);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* clears the error, which is reported here */
        cudaMemGetInfo(&left, &all);
        return err_fail(e, ERR_NOMEM,
                        "cuda:%d: no memory for %zu MiB of tensors: %zu of %zu MiB are free",
                        d->index, bytes >> 20, left >> 20, all >> 20);
    }
    if (!status)
        status = cudaMemset(p, 0, bytes);
    if (!status)
        status = cudaDeviceSynchronize();
    if (status) {
        if (p)
            give_back(d, p);
        return cuda_fail(e, d->index, status, "memory for tensors");
    }
    *out = p;
    return OK;
}

static size_t room(struct gpu_device *base)
{
    size_t left = 0, all = 0;
    cudaSetDevice(((struct cuda_device *)base)->index);
    cudaMemGetInfo(&left, &all);
    return left;
}

static void release(struct gpu_device *base, void *memory)
{
    const struct cuda_device *d = (struct cuda_device *)base;
    cudaSetDevice(d->index);
    cudaDeviceSynchronize(); /* the memory must not be in use any more */
    give_back(d, memory);
}

/* ---- queues ---- */

static void destroy(struct cuda_queue *q)
{
    cudaSetDevice(q->device->index);
    if (q->stream) {
        cudaStreamSynchronize(q->stream);
        cudaStreamDestroy(q->stream);
    }
    cuda_staging_close(q);
    cudaFree(q->scratch);
    cudaFree(q->workspace);
    free(q);
}

static void queue_free(struct gpu_queue *base)
{
    struct cuda_queue *q = (struct cuda_queue *)base;
    struct cuda_device *d = q->device;
    if (!cuda_begin(base) || !cuda_did(base, cudaStreamSynchronize(q->stream), "wait")) {
        destroy(q);
        return;
    }
    pthread_mutex_lock(&d->lock);
    q->next = d->queues;
    d->queues = q;
    pthread_mutex_unlock(&d->lock);
}

static enum err_code queue_new(struct gpu_queue **out, struct gpu_device *base, struct err *e)
{
    struct cuda_device *d = (struct cuda_device *)base;
    pthread_mutex_lock(&d->lock);
    struct cuda_queue *q = d->queues;
    d->queues = q ? q->next : NULL;
    pthread_mutex_unlock(&d->lock);
    if (q) {
        *out = &q->base;
        return OK;
    }
    if (!(q = calloc(1, sizeof *q)))
        return err_fail(e, ERR_NOMEM, "no memory for a queue");
    q->base = (struct gpu_queue){.op = &base->ops, .device = base};
    q->device = d;
    if (cuda_begin(&q->base) &&
        cuda_did(&q->base, cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking),
                 "a stream") &&
        cuda_did(&q->base, cudaMalloc(&q->workspace, CUBLAS_WORKSPACE), "memory of products") &&
        cuda_staging_open(q)) {
        *out = &q->base;
        return OK;
    }
    enum err_code code = q->base.failure.code;
    if (e)
        *e = q->base.failure;
    destroy(q);
    return code;
}

static enum err_code finish(struct gpu_queue *q, struct err *e)
{
    if (cuda_did(q, cudaSetDevice(((struct cuda_queue *)q)->device->index), "choose the card"))
        cuda_did(q, cudaStreamSynchronize(cuda_stream(q)), "wait");
    return cuda_take_failure(q, e);
}

static enum err_code run_each(struct gpu_queue *q, size_t n, size_t chains, gpu_item *fn, void *arg,
                              struct err *e)
{
    for (size_t i = 0; i < n && !q->failure.code; i++)
        fn(arg, i, q);
    return cuda_take_failure(q, e);
}

/* ---- the device ---- */

static void close_device(struct gpu_device *base)
{
    struct cuda_device *d = (struct cuda_device *)base;
    cudaSetDevice(d->index);
    for (struct cuda_queue *q; (q = d->queues);) {
        d->queues = q->next;
        destroy(q);
    }
    keep_idle(d, 0);
    if (d->lt)
        cublasLtDestroy(d->lt);
    cuda_plans_free(d->plans);
    cudnn_cache_free(d->cudnn);
    free(d);
}

static const struct gpu_calls calls = {
    close_device,    alloc,           release,    room,      cuda_write, cuda_read, cuda_later_new,
    cuda_later_free, cuda_read_later, cuda_await, queue_new, queue_free, finish,    run_each};

static enum err_code count(int *n, struct err *e)
{
    cudaError_t status = cudaGetDeviceCount(n);
    if (status)
        return err_fail(e, ERR_UNSUPPORTED, "no card: %s", cudaGetErrorString(status));
    return *n ? OK : err_fail(e, ERR_UNSUPPORTED, "no card: the driver sees none");
}

static enum err_code card(struct gpu_card *out, int index, struct err *e)
{
    int n, runtime = 0, major = 0, minor = 0;
    const char *why;
    size_t lt = cublasLtGetVersion(), dnn = cudnn_version(&why);
    struct cudaDeviceProp p;
    enum err_code code = count(&n, e);
    if (code)
        return err_up(e, code);
    if (index < 0 || index >= n)
        return err_fail(e, ERR_INPUT, "cuda:%d: there %s %d card%s, from cuda:0 on", index,
                        n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    *out = (struct gpu_card){.index = index};
    cudaError_t status = cudaGetDeviceProperties(&p, index);
    if (!status)
        status = cudaRuntimeGetVersion(&runtime);
    if (!status)
        status = cudaDriverGetVersion(&out->driver);
    if (status)
        return cuda_fail(e, index, status, "ask the card");
    major = p.major;
    minor = p.minor;
    snprintf(out->name, sizeof out->name, "%.100s", p.name);
    out->bytes = p.totalGlobalMem;
    int n_class =
        snprintf(out->class_name, sizeof out->class_name,
                 "cuda sm_%d%d, %d SMs, runtime %d.%d, cuBLASLt %zu.%zu.%zu", major, minor,
                 p.multiProcessorCount, runtime / 1000, runtime % 1000 / 10, lt / 10000,
                 lt / 100 % 100, lt % 100);
    if (dnn)
        snprintf(out->class_name + n_class, sizeof out->class_name - (size_t)n_class,
                 ", cuDNN %zu.%zu.%zu", dnn / 10000, dnn / 100 % 100, dnn % 100);
    snprintf(out->no_cudnn, sizeof out->no_cudnn, "%s", dnn ? "" : why);
    out->bf16 = major >= 8;
    return major * 10 + minor >= 75
               ? OK
               : err_fail(e, ERR_UNSUPPORTED,
                          "cuda:%d: %s is sm_%d%d; sm_75 and later are supported", index, p.name,
                          major, minor);
}

static enum err_code open_device(struct gpu_device **out, int index, struct err *e)
{
    struct gpu_card c;
    enum err_code code = card(&c, index, e);
    if (code)
        return err_up(e, code);
    struct cuda_device *d = calloc(1, sizeof *d);
    if (!d || !(d->plans = cuda_plans_new())) {
        free(d);
        return err_fail(e, ERR_NOMEM, "no memory for a device");
    }
    d->base =
        (struct gpu_device){.calls = &calls, .cuts = cuts, .queues = 1, .stores_bf16 = c.bf16};
    struct gpu_ops *ops = &d->base.ops;
    ops->name = "cuda";
    ops->matmul = cuda_matmul;
    cuda_fill_elementwise(ops);
    cuda_fill_reduce(ops);
    cuda_fill_norm(ops);
    cuda_fill_attention(ops);
    cuda_fill_sequence(ops);
    cuda_fill_loss(ops);
    cuda_fill_outcome(ops);
    cuda_fill_pools(ops);
    cuda_fill_convolution(ops);
    pthread_mutex_init(&d->lock, NULL);
    d->index = index;
    cudaError_t status = cudaSetDevice(index);
    if (!status)
        status = cudaDeviceGetAttribute(&d->has_pool, cudaDevAttrMemoryPoolsSupported, index);
    if (!status)
        status = keep_idle(d, UINT64_MAX);
    cublasStatus_t lt = status ? CUBLAS_STATUS_SUCCESS : cublasLtCreate(&d->lt);
    if (status || lt) {
        close_device(&d->base);
        return status ? cuda_fail(e, index, status, "open the card")
                      : err_fail(e, ERR_FAILED, "cuda:%d: cuBLASLt does not open: %s", index,
                                 cublasLtGetStatusName(lt));
    }
    *out = &d->base;
    return OK;
}

__attribute__((visibility("default")))
const struct cuda_plugin eqloom_cuda_plugin = {CUDA_PLUGIN_LAYOUT, count, open_device, card};
