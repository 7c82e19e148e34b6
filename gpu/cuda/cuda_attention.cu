/* Attention over packed sequences of any length and head size: a block for each sequence and head,
 * a warp for each query, or key, at a time. Lanes hold columns of the head; scores are warp sums.
 * The softmax goes along with the keys (Milakov and Gimelshein 2018), so nothing quadratic is kept.
 * The backward goes over queries for dq, and over keys for dk and dv: every number is written by
 * one thread.
 *
 * A thread holds HELD columns of a result; wider heads are computed in slices (grid.z), for each of
 * which the scores are worked out again. */
#include "gpu/cuda/launch.h"

#include <math.h>

enum { HELD = 4, SLICE = HELD * WARP, ATTENTION_WARPS = 4 };

/* What a block works on. */
struct head {
    size_t first, n, key, m; /* rows of queries and of keys */
    size_t column;           /* of the head */
    size_t from, to;         /* the slice: columns of the head */
};

__device__ static inline struct head head_of(const struct gpu_attention *at)
{
    size_t s = blockIdx.x, from = (size_t)blockIdx.z * SLICE;
    struct head h = {at->first[s],
                     at->end[s] - at->first[s],
                     at->key_first[s],
                     at->key_end[s] - at->key_first[s],
                     blockIdx.y * at->size,
                     from,
                     from + SLICE < at->size ? from + SLICE : at->size};
    return h;
}

/* Keys that query i sees. */
__device__ static inline size_t seen(const struct gpu_attention *at, const struct head *h, size_t i)
{
    return at->causal ? h->m - h->n + 1 + i : h->m;
}

__device__ static inline float dot(const float *x, const float *y, size_t size)
{
    float sum = 0;
    for (size_t d = LANE; d < size; d += WARP)
        sum += x[d] * y[d];
    return warp_sum(sum);
}

/* sum += by * the slice of x */
__device__ static inline void add_slice(float *sum, float by, const float *x, const struct head *h)
{
    for (unsigned i = 0; i < HELD; i++)
        if (h->from + i * WARP + LANE < h->to)
            sum[i] += by * x[h->from + i * WARP + LANE];
}

__device__ static inline void store_slice(float *y, const float *sum, float by,
                                          const struct head *h)
{
    for (unsigned i = 0; i < HELD; i++)
        if (h->from + i * WARP + LANE < h->to)
            y[h->from + i * WARP + LANE] = by * sum[i];
}

__global__ static void attention_kernel(float *out, struct gpu_attention at)
{
    struct head h = head_of(&at);
    for (size_t i = threadIdx.x / WARP; i < h.n; i += ATTENTION_WARPS) {
        size_t row = h.first + i, end = seen(&at, &h, i);
        const float *q = at.q + row * at.q_ld + h.column;
        float sum[HELD] = {0, 0, 0, 0}, top = -INFINITY, total = 0;
        for (size_t j = 0; j < end; j++) {
            size_t key = (h.key + j) * at.kv_ld + h.column;
            float score = dot(q, at.k + key, at.size);
            if (score > top) { /* the differences first: scores may be large */
                float by = expf((top - score) * at.scale);
                total *= by;
                for (unsigned k = 0; k < HELD; k++)
                    sum[k] *= by;
                top = score;
            }
            float p = expf((score - top) * at.scale);
            total += p;
            add_slice(sum, p, at.v + key, &h);
        }
        store_slice(out + row * at.heads * at.size + h.column, sum, 1 / total, &h);
        if (LANE == 0 && h.from == 0)
            at.lse[row * at.heads + blockIdx.y] = top * at.scale + logf(total);
    }
}

static dim3 grid_of(const struct gpu_attention *at)
{
    return dim3((unsigned)at->sequences, (unsigned)at->heads,
                (unsigned)((at->size + SLICE - 1) / SLICE));
}

static void attention(struct gpu_queue *q, float *out, const struct gpu_attention *at)
{
    LAUNCH(q, attention_kernel, grid_of(at), ATTENTION_WARPS *WARP, out, *at);
}

struct backward {
    struct gpu_attention at;
    float *dq, *dk, *dv;
    const float *dout;
    float *mean; /* (rows of q, heads): the sum over keys of p dp */
};

/* With p the probabilities and dp = dout . v: dq = scale * (sum p dp k - (sum p dp) sum p k). */
__global__ static void queries_back_kernel(struct backward b)
{
    const struct gpu_attention at = b.at;
    struct head h = head_of(&at);
    for (size_t i = threadIdx.x / WARP; i < h.n; i += ATTENTION_WARPS) {
        size_t row = h.first + i, end = seen(&at, &h, i);
        const float *q = at.q + row * at.q_ld + h.column;
        const float *dout = b.dout + row * at.heads * at.size + h.column;
        float weighted[HELD] = {0, 0, 0, 0}, plain[HELD] = {0, 0, 0, 0}, mean = 0;
        float lse = at.lse[row * at.heads + blockIdx.y];
        for (size_t j = 0; j < end; j++) {
            size_t key = (h.key + j) * at.kv_ld + h.column;
            float p = expf(dot(q, at.k + key, at.size) * at.scale - lse);
            float dp = dot(dout, at.v + key, at.size);
            mean += p * dp;
            add_slice(weighted, p * dp, at.k + key, &h);
            add_slice(plain, p, at.k + key, &h);
        }
        for (unsigned k = 0; k < HELD; k++)
            weighted[k] -= mean * plain[k];
        store_slice(b.dq + row * at.q_ld + h.column, weighted, at.scale, &h);
        if (LANE == 0 && h.from == 0)
            b.mean[row * at.heads + blockIdx.y] = mean;
    }
}

/* dk = scale * sum p (dp - mean) q, dv = sum p dout, over the queries that see the key. */
__global__ static void keys_back_kernel(struct backward b)
{
    const struct gpu_attention at = b.at;
    struct head h = head_of(&at);
    for (size_t j = threadIdx.x / WARP; j < h.m; j += ATTENTION_WARPS) {
        size_t key = (h.key + j) * at.kv_ld + h.column;
        float dk[HELD] = {0, 0, 0, 0}, dv[HELD] = {0, 0, 0, 0};
        for (size_t i = 0; i < h.n; i++) {
            if (j >= seen(&at, &h, i))
                continue;
            size_t row = h.first + i;
            const float *q = at.q + row * at.q_ld + h.column;
            const float *dout = b.dout + row * at.heads * at.size + h.column;
            float p = expf(dot(q, at.k + key, at.size) * at.scale -
                           at.lse[row * at.heads + blockIdx.y]);
            float dp = dot(dout, at.v + key, at.size);
            add_slice(dk, p * (dp - b.mean[row * at.heads + blockIdx.y]), q, &h);
            add_slice(dv, p, dout, &h);
        }
        store_slice(b.dk + key, dk, at.scale, &h);
        store_slice(b.dv + key, dv, 1, &h);
    }
}

static void attention_back(struct gpu_queue *q, float *dq, float *dk, float *dv, const float *dout,
                           const struct gpu_attention *at)
{
    float *mean = (float *)cuda_scratch(q, at->rows * at->heads * sizeof *mean);
    struct backward b = {*at, dq, dk, dv, dout, mean};
    if (!mean)
        return;
    LAUNCH(q, queries_back_kernel, grid_of(at), ATTENTION_WARPS *WARP, b);
    LAUNCH(q, keys_back_kernel, grid_of(at), ATTENTION_WARPS *WARP, b);
}

void cuda_fill_attention(struct gpu_ops *t)
{
    t->attention = attention;
    t->attention_back = attention_back;
}
