/* Internals of the CUDA back end: a queue is a stream with the state that its ops need. The kernels
 * are C++, everything else is C. */
#pragma once

#include <cuda_runtime_api.h>
#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "gpu/gpu.h"

struct cuda_plans;

struct cuda_device {
    struct gpu_device base;
    int index, has_pool; /* has_pool: CUDA's own pool of memory */
    pthread_mutex_t lock;
    struct cuda_queue *queues; /* free list */
    struct cublasLtContext *lt;
    struct cuda_plans *plans;
    struct cudnn_cache *cudnn; /* created on first use */
};

/* Page-locked memory through which all copies go, in two halves: a half is reused once the copies
 * that read it are done. */
enum { STAGING_HALF = 4 << 20 };
struct cuda_staging {
    char *at;
    unsigned half;
    size_t used;
    cudaEvent_t done[2]; /* recorded after the last copy of each half */
};

struct cuda_queue {
    struct gpu_queue base;
    struct cuda_device *device;
    struct cuda_queue *next; /* in the free list */
    cudaStream_t stream;
    struct cuda_staging staging;
    void *scratch; /* device memory: grows; contents do not outlive an op */
    size_t scratch_size;
    void *workspace; /* cuBLASLt's */
};

/* Rounds up to a multiple of an eighth of the power of two below n. */
static inline size_t cuda_rounded(size_t n)
{
    size_t step = 1;
    while (step * 16 <= n)
        step *= 2;
    return (n + step - 1) / step * step;
}

enum err_code cuda_fail(struct err *e, int index, cudaError_t status, const char *what);
/* Makes the queue's device current for the thread. Returns false after a failure: ops must then do
 * nothing. */
bool cuda_begin(struct gpu_queue *q);
/* Returns whether the call succeeded; else records its failure in the queue, unless there is an
 * earlier one. */
bool cuda_did(struct gpu_queue *q, cudaError_t status, const char *what);
/* Called after a launch. */
void cuda_launched(struct gpu_queue *q, const char *kernel);
/* Returns the queue's failure and clears it. */
enum err_code cuda_take_failure(struct gpu_queue *q, struct err *e);
/* Returns NULL after recording the failure. */
void *cuda_scratch(struct gpu_queue *q, size_t bytes);
static inline cudaStream_t cuda_stream(const struct gpu_queue *q)
{
    return ((const struct cuda_queue *)q)->stream;
}

bool cuda_staging_open(struct cuda_queue *q);
void cuda_staging_close(struct cuda_queue *q);
void cuda_write(struct gpu_queue *q, void *device, const void *host, size_t bytes);
void cuda_read(struct gpu_queue *q, void *host, const void *device, size_t bytes);
enum err_code cuda_later_new(struct gpu_later **out, struct gpu_queue *q, size_t bytes,
                             struct err *e);
void cuda_later_free(struct gpu_later *l);
void cuda_read_later(struct gpu_later *l, const void *device);
enum err_code cuda_await(struct gpu_later *l, struct err *e);

enum { CUBLAS_WORKSPACE = 32 << 20 };
struct cuda_plans *cuda_plans_new(void);
void cuda_plans_free(struct cuda_plans *p);
void cuda_matmul(struct gpu_queue *q, const struct gpu_matmul *mm);
/* c = act([beta * base] + [bias]), then masked: the parts of gpu_matmul besides the product. */
void cuda_around_product(struct gpu_queue *q, const struct gpu_matmul *mm);

/* Fill the ops table, one function per file of kernels. */
void cuda_fill_elementwise(struct gpu_ops *t);
void cuda_fill_reduce(struct gpu_ops *t);
void cuda_fill_norm(struct gpu_ops *t);
void cuda_fill_attention(struct gpu_ops *t);
void cuda_fill_sequence(struct gpu_ops *t);
void cuda_fill_loss(struct gpu_ops *t);
void cuda_fill_outcome(struct gpu_ops *t);
void cuda_fill_pools(struct gpu_ops *t);
void cuda_fill_convolution(struct gpu_ops *t);
/* cuda_patches: rows of patches under the filter, (images, height, width of the result; filter's
 * height, width, in), of images first .. first + n - 1. cuda_patches_back: for each number of these
 * images, the sum of its gradients in the patches. */
void cuda_patches(struct gpu_queue *q, float *patches, const float *x, size_t first, size_t n,
                  const struct gpu_convolution *how);
void cuda_patches_back(struct gpu_queue *q, float *dx, const float *dpatches, size_t first,
                       size_t n, const struct gpu_convolution *how);
/* Attention by cuDNN; returns false if sequences are short or it has no plan for them. */
bool cudnn_attend(struct gpu_queue *q, void *out, const struct gpu_attention *at);
/* First elements of n sequences in operands, result and log-sums, and their numbers of rows; those
 * beyond at->sequences are empty. */
struct cuda_ranges {
    int32_t *rows, *results, *sums, *lengths;
};
void cuda_ranges_of(struct gpu_queue *q, const struct cuda_ranges *r, size_t n,
                    const struct gpu_attention *at);
/* y = x, rounded to bf16 and widened again. */
void cuda_round_floats(struct gpu_queue *q, float *y, const float *x, size_t n);
/* *out = the sum of squares. */
void cuda_sum_squares(struct gpu_queue *q, double *out, const float *x, size_t n);

#ifdef __cplusplus
}
#endif
