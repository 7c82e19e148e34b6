/* The part of cuDNN's graph API that we use, in C: an operation on tensors becomes a plan, which is
 * built once and cached by its key. The library is loaded when the first plan is requested. Without
 * it, or where it has no deterministic plan of the required precision, callers have a fallback: the
 * choice is a function of the key, the card and the library. */
#pragma once

#include "gpu/cuda/cuda_queue.h"

#include <cudnn.h>

/* The functions that we call. */
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

/* Returns NULL, with the reason in *why. */
const struct cudnn_calls *cudnn_load(const char **why);

/* Returns the library's version, 90100 for 9.1, or 0 with the reason why it is missing. */
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

/* Upper bound on a plan's workspace. */
#define CUDNN_WORKSPACE ((int64_t)256 << 20)

struct cudnn_plan {
    struct cudnn_key key;
    struct cudnn_plan *next;
    void *plan; /* NULL: unsupported */
    int64_t workspace;
    void **descriptors; /* all descriptors that it consists of */
    size_t n;
};

/* A cache for the calling thread's card, or for a card described in cuDNN's JSON, which need not
 * exist. ERR_UNSUPPORTED if there is no library. */
struct cudnn_cache;
enum err_code cudnn_cache_new(struct cudnn_cache **out, const char *card, struct err *e);
void cudnn_cache_free(struct cudnn_cache *c);
/* Clear a key before setting its fields: keys are compared bytewise. */
enum err_code cudnn_plan_for(const struct cudnn_plan **out, struct cudnn_cache *c,
                             const struct cudnn_key *key, struct err *e);
/* Like cudnn_plan_for, for the queue's card; returns NULL if there is no plan, or after a
 * failure. */
const struct cudnn_plan *cudnn_plan_of(struct gpu_queue *q, const struct cudnn_key *key);
void cudnn_run(struct gpu_queue *q, const struct cudnn_plan *plan, void *const *operands,
               void *workspace);
