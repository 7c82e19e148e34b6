/* cuDNN's graph API in C, as far as we use it: an operation on tensors becomes a plan, which is
 * asked for once and kept by its key. The library is loaded when a plan is first asked for. Without
 * it, and where it has no plan that repeats and is as exact as asked for, callers have another way:
 * which one is taken is a function of the key, the card and the library. */
#pragma once

#include "gpu/cuda/cuda_queue.h"

#include <cudnn.h>

/* What we call. */
struct cudnn_calls {
    __typeof__(cudnnGetVersion) *version;
    __typeof__(cudnnGetErrorString) *text;
    __typeof__(cudnnCreate) *open;
    __typeof__(cudnnDestroy) *close;
    __typeof__(cudnnSetStream) *set_stream;
    __typeof__(cudnnBackendCreateDescriptor) *make;
    __typeof__(cudnnBackendDestroyDescriptor) *destroy;
    __typeof__(cudnnBackendSetAttribute) *set;
    __typeof__(cudnnBackendGetAttribute) *get;
    __typeof__(cudnnBackendFinalize) *finalize;
    __typeof__(cudnnBackendExecute) *execute;
};

/* NULL, and why. */
const struct cudnn_calls *cudnn_load(const char **why);

/* The library's version, as 90100 for 9.1, or 0 with the reason why there is none. */
size_t cudnn_version(const char **why);

/* What is computed, and its operands in order:
 *   CONVOLVE               x, filters, y
 *   CONVOLVE_BACK_INPUT    dy, filters, dx
 *   CONVOLVE_BACK_FILTERS  dy, x, dfilters
 *   ATTEND                 q, k, v, out, logarithms of sums, scale (of the host), offsets of
 *                          q, k and v, of logarithms, lengths, offsets of out */
enum cudnn_kind { CONVOLVE, CONVOLVE_BACK_INPUT, CONVOLVE_BACK_FILTERS, ATTEND };
enum { CUDNN_OPERANDS = 10 };

/* For GPU_BF16 operands are bf16, but results f32; attention's are bf16 throughout, its logarithms
 * (rows, heads) f32. Attention is that of packed sequences of at most `longest` rows to themselves;
 * the offsets count numbers. */
struct cudnn_key {
    enum cudnn_kind kind;
    enum gpu_precision precision;
    struct gpu_convolution convolution;
    struct {
        size_t sequences, heads, size, longest, ld; /* ld: of rows of q, k and v */
    } attention;
};

/* Plans take so much workspace at most. */
#define CUDNN_WORKSPACE ((int64_t)256 << 20)

struct cudnn_plan {
    struct cudnn_key key;
    struct cudnn_plan *next;
    void *plan; /* NULL: there is none */
    int64_t workspace;
    void **descriptors; /* all that it is made of */
    size_t n;
};

/* For the card of the calling thread, or for one that is described (as cuDNN writes it, in JSON),
 * with no card at all. ERR_UNSUPPORTED: there is no library. */
struct cudnn_cache;
enum err_code cudnn_cache_new(struct cudnn_cache **out, const char *card, struct err *e);
void cudnn_cache_free(struct cudnn_cache *c);
/* Keys are cleared before they are filled in: they are compared byte by byte. */
enum err_code cudnn_plan_for(const struct cudnn_plan **out, struct cudnn_cache *c,
                             const struct cudnn_key *key, struct err *e);
/* The same for the queue's card; NULL if there is none, or after a failure. */
const struct cudnn_plan *cudnn_plan_of(struct gpu_queue *q, const struct cudnn_key *key);
void cudnn_run(struct gpu_queue *q, const struct cudnn_plan *plan, void *const *operands,
               void *workspace);
