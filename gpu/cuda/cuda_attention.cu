/* Attention over packed sequences of any length and head size, stored as f32 or bf16 and computed
 * in f32: one block per sequence and head. It iterates over tiles of 32 queries by 32 keys, whose
 * scores are products of tiles in shared memory. The softmax is computed online (Milakov and
 * Gimelshein 2018), so nothing quadratic is stored. The backward iterates over queries for dq, and
 * over keys for dk and dv: every element is written by one thread, which sums in order.
 *
 * In a tile a warp has PER rows, a lane one column. A thread holds the results of PARTS tiles of
 * columns; wider heads are computed in slices (grid.z), each of which recomputes the scores. */
#include "gpu/cuda/launch.h"

#include <math.h>

enum { TILE = WARP, ATTENTION_WARPS = 4, PER = TILE / ATTENTION_WARPS, PARTS = 2 };
enum { SLICE = PARTS * TILE };
typedef float tile[TILE][TILE + 1];
#define TILE_ROW ((size_t)PER * (threadIdx.x / WARP))

/* The part of the operands that a block processes. */
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

/* Returns how many keys query i attends to. */
__device__ static inline size_t seen(const struct gpu_attention *at, const struct head *h, size_t i)
{
    return at->causal ? h->m - h->n + 1 + i : h->m;
}

/* Applies dropout to the probability of query i and key j, or to its gradient. */
__device__ static inline float kept(const struct dropping *drop, const struct gpu_attention *at,
                                    const struct head *h, float x, size_t i, size_t j)
{
    uint64_t head = (at->drop.first + h->first) * at->heads + blockIdx.y;
    return drop->threshold ? dropped(drop, x, (head << 40) + (j << 20) + i) : x;
}

/* Counters as in `kept`. */
static inline struct dropping drop_of(const struct gpu_attention *at)
{
    struct gpu_dropout drop = {at->drop.rate, at->drop.key, 0};
    return dropping_of(&drop);
}

__device__ static inline size_t at_most(size_t n)
{
    return n < TILE ? n : (size_t)TILE;
}

/* Consecutive rows of a head. */
template <class T> struct strip {
    const T *x;
    size_t ld, rows;
};
template <class T>
__device__ static inline struct strip<T> strip_of(const void *x, size_t ld, size_t first,
                                                  size_t from, size_t n, size_t column) {
    struct strip<T> s = {
        (const T *)x + (first + from) * ld + column, ld, at_most(n - from)
    };
    return s;
}

/* Loads columns c .. of the strip, below `end`; zero out of range. */
template <class T>
__device__ static inline void load_tile(tile to, const struct strip<T> *s, size_t c, size_t end)
{
    for (size_t r = threadIdx.x / WARP; r < TILE; r += ATTENTION_WARPS)
        to[r][LANE] = r < s->rows && c + LANE < end ? value_of(s->x[r * s->ld + c + LANE]) : 0;
}

/* sum[r] = the thread's row r of a times row LANE of b */
template <class T>
__device__ static inline void multiply(float *sum, tile x, tile y, const struct strip<T> *a,
                                       const struct strip<T> *b, size_t size)
{
    for (int r = 0; r < PER; r++)
        sum[r] = 0;
    for (size_t c = 0; c < size; c += TILE) {
        __syncthreads(); /* all threads have read the tiles */
        load_tile(x, a, c, size);
        load_tile(y, b, c, size);
        __syncthreads();
        for (int k = 0; k < TILE && TILE_ROW < a->rows; k++)
            for (int r = 0; r < PER; r++)
                sum[r] += x[TILE_ROW + r][k] * y[LANE][k];
    }
}

/* Writes the strip's rows to y: part p of the slice's columns, from column c on. */
template <class T>
__device__ static inline void load_part(tile y, const struct strip<T> *s, const struct head *h,
                                        int p)
{
#if EQLOOM_PLANT != 6
    __syncthreads();
#endif
    load_tile(y, s, h->from + p * TILE, h->to);
    __syncthreads();
}
#define EACH_PART(p, h)                                                                            \
    for (int p = 0; p < PARTS; p++)                                                                \
        if ((h).from + p * TILE < (h).to)

template <class T>
__device__ static inline void store_part(T *to, const struct head *h, int p, float value)
{
    size_t c = h->from + p * TILE + LANE;
    if (c < h->to)
        put(to + c, value);
}

template <class T>
__global__ static void attention_kernel(T *out, struct gpu_attention at, struct dropping drop)
{
    __shared__ tile x, y, s;
    __shared__ float by[TILE];
    struct head h = head_of(&at);
    for (size_t q0 = 0; q0 < h.n; q0 += TILE) {
        struct strip<T> queries = strip_of<T>(at.q, at.q_ld, h.first, q0, h.n, h.column);
        float sum[PARTS][PER] = {}, top = -INFINITY, total = 0;
        size_t end = seen(&at, &h, q0 + queries.rows - 1);
        for (size_t k0 = 0; k0 < end; k0 += TILE) {
            struct strip<T> keys = strip_of<T>(at.k, at.kv_ld, h.key, k0, h.m, h.column);
            struct strip<T> values = strip_of<T>(at.v, at.kv_ld, h.key, k0, h.m, h.column);
            float score[PER];
            multiply(score, x, y, &queries, &keys, at.size);
            for (int r = 0; r < PER; r++)
                s[TILE_ROW + r][LANE] =
                    TILE_ROW + r < queries.rows && k0 + LANE < seen(&at, &h, q0 + TILE_ROW + r)
                        ? score[r]
                        : -INFINITY;
            __syncthreads();
            if (threadIdx.x < queries.rows) { /* one thread per row */
                float *row = s[threadIdx.x], next = top;
                for (int j = 0; j < TILE; j++)
                    next = fmaxf(next, row[j]);
                /* Subtract first: scores may be large. */
                float less = next > top ? expf((top - next) * at.scale) : 1;
                total *= less;
                for (int j = 0; j < TILE; j++) {
                    row[j] = row[j] == -INFINITY ? 0 : expf((row[j] - next) * at.scale);
                    total += row[j];
                    row[j] = kept(&drop, &at, &h, row[j], q0 + threadIdx.x, k0 + j);
                }
                top = next;
                by[threadIdx.x] = less;
            }
            EACH_PART(p, h)
            {
                load_part(y, &values, &h, p);
                for (int r = 0; r < PER; r++) {
                    float z = TILE_ROW + r < queries.rows ? sum[p][r] * by[TILE_ROW + r] : 0;
                    for (size_t j = 0; j < keys.rows && TILE_ROW < queries.rows; j++)
                        z += s[TILE_ROW + r][j] * y[j][LANE];
                    sum[p][r] = z;
                }
            }
        }
        __syncthreads();
        if (threadIdx.x < queries.rows) {
            by[threadIdx.x] = 1 / total;
            if (h.from == 0)
                at.lse[(h.first + q0 + threadIdx.x) * at.heads + blockIdx.y] =
                    top * at.scale + logf(total);
        }
        __syncthreads();
        EACH_PART(p, h)
        for (size_t r = TILE_ROW; r < TILE_ROW + PER && r < queries.rows; r++)
            store_part(out + (h.first + q0 + r) * at.heads * at.size + h.column, &h, p,
                       sum[p][r - TILE_ROW] * by[r]);
    }
}

static dim3 grid_of(const struct gpu_attention *at)
{
    return dim3((unsigned)at->sequences, (unsigned)at->heads,
                (unsigned)((at->size + SLICE - 1) / SLICE));
}

static void attention(struct gpu_queue *q, void *out, const struct gpu_attention *at)
{
    if (!cudnn_attend(q, out, at))
        BY_TYPE(at->type, T,
                LAUNCH(q, attention_kernel<T>, grid_of(at), ATTENTION_WARPS * WARP, (T *)out, *at,
                       drop_of(at)));
}

template <class T> struct backward {
    struct gpu_attention at;
    T *dq, *dk, *dv;
    const T *dout;
    float *mean; /* (rows of q, heads): the sum over keys of p dp */
    struct dropping drop;
};

/* A tile of queries and keys: the strips, and the thread's p and dp = dout . v, which dropout
 * scales as it does p. */
template <class T> struct tiles {
    struct strip<T> q, k, v, dout;
    float p[PER], dp[PER];
};
template <class T>
__device__ static inline struct tiles<T> tiles_of(const struct backward<T> *b, const struct head *h,
                                                  size_t q0, size_t k0) {
    const struct gpu_attention *at = &b->at;
    struct tiles<T> x = {
    };
    x.q = strip_of<T>(at->q, at->q_ld, h->first, q0, h->n, h->column);
    x.k = strip_of<T>(at->k, at->kv_ld, h->key, k0, h->m, h->column);
    x.v = strip_of<T>(at->v, at->kv_ld, h->key, k0, h->m, h->column);
    x.dout = strip_of<T>(b->dout, at->heads * at->size, h->first, q0, h->n, h->column);
    return x;
}

template <class T>
__device__ static inline void
probabilities(struct tiles<T> *t, tile x, tile y, const struct gpu_attention *at,
              const struct dropping *drop, const struct head *h, size_t q0, size_t k0)
{
    multiply(t->dp, x, y, &t->dout, &t->v, at->size);
    multiply(t->p, x, y, &t->q, &t->k, at->size);
    for (int r = 0; r < PER; r++) {
        size_t i = q0 + TILE_ROW + r;
        bool counts = TILE_ROW + r < t->q.rows && k0 + LANE < seen(at, h, i);
        t->p[r] = counts
                      ? expf(t->p[r] * at->scale - at->lse[(h->first + i) * at->heads + blockIdx.y])
                      : 0;
        t->dp[r] = counts ? kept(drop, at, h, t->dp[r], i, k0 + LANE) : 0;
    }
}

/* dq = scale * (sum p dp k - (sum p dp) sum p k) */
template <class T> __global__ static void queries_back_kernel(struct backward<T> b)
{
    __shared__ tile x, y, s, z;
    __shared__ float means[TILE];
    const struct gpu_attention at = b.at;
    struct head h = head_of(&at);
    for (size_t q0 = 0; q0 < h.n; q0 += TILE) {
        float weighted[PARTS][PER] = {}, plain[PARTS][PER] = {}, mean = 0;
        size_t rows = at_most(h.n - q0), end = seen(&at, &h, q0 + rows - 1);
        for (size_t k0 = 0; k0 < end; k0 += TILE) {
            struct tiles<T> t = tiles_of(&b, &h, q0, k0);
            probabilities(&t, x, y, &at, &b.drop, &h, q0, k0);
            for (int r = 0; r < PER; r++) {
                s[TILE_ROW + r][LANE] = t.p[r];
                z[TILE_ROW + r][LANE] = t.p[r] * t.dp[r];
            }
            EACH_PART(p, h)
            {
                load_part(y, &t.k, &h, p);
                for (size_t j = 0; j < t.k.rows && TILE_ROW < rows; j++)
                    for (int r = 0; r < PER; r++) {
                        weighted[p][r] += z[TILE_ROW + r][j] * y[j][LANE];
                        plain[p][r] += s[TILE_ROW + r][j] * y[j][LANE];
                    }
            }
            if (threadIdx.x < rows)
                for (int j = 0; j < TILE; j++)
                    mean += z[threadIdx.x][j];
        }
        if (threadIdx.x < rows) {
            means[threadIdx.x] = mean;
            if (h.from == 0)
                b.mean[(h.first + q0 + threadIdx.x) * at.heads + blockIdx.y] = mean;
        }
        __syncthreads();
        EACH_PART(p, h)
        for (size_t r = TILE_ROW; r < TILE_ROW + PER && r < rows; r++)
            store_part(b.dq + (h.first + q0 + r) * at.q_ld + h.column, &h, p,
                       at.scale * (weighted[p][r - TILE_ROW] - means[r] * plain[p][r - TILE_ROW]));
    }
}

/* dk = scale * sum p (dp - mean) q, dv = sum p dout, p after dropout, over the queries that see the
 * key. */
template <class T> __global__ static void keys_back_kernel(struct backward<T> b)
{
    __shared__ tile x, y, s, z;
    const struct gpu_attention at = b.at;
    struct head h = head_of(&at);
    for (size_t k0 = 0; k0 < h.m; k0 += TILE) {
        float dk[PARTS][PER] = {}, dv[PARTS][PER] = {};
        for (size_t q0 = 0; q0 < h.n; q0 += TILE) {
            struct tiles<T> t = tiles_of(&b, &h, q0, k0);
            if (k0 >= seen(&at, &h, q0 + t.q.rows - 1))
                continue;
            probabilities(&t, x, y, &at, &b.drop, &h, q0, k0);
            for (int r = 0; r < PER; r++) {
                size_t i = TILE_ROW + r;
                float mean = i < t.q.rows ? b.mean[(h.first + q0 + i) * at.heads + blockIdx.y] : 0;
                s[i][LANE] = kept(&b.drop, &at, &h, t.p[r], q0 + i, k0 + LANE);
                z[i][LANE] = t.p[r] * (t.dp[r] - mean);
            }
            EACH_PART(p, h)
            {
                load_part(x, &t.q, &h, p);
                load_part(y, &t.dout, &h, p);
                for (size_t i = 0; i < t.q.rows && TILE_ROW < t.k.rows; i++)
                    for (int r = 0; r < PER; r++) {
                        dk[p][r] += z[i][TILE_ROW + r] * x[i][LANE];
                        dv[p][r] += s[i][TILE_ROW + r] * y[i][LANE];
                    }
            }
        }
        EACH_PART(p, h)
        for (size_t r = TILE_ROW; r < TILE_ROW + PER && k0 + r < h.m; r++) {
            size_t key = (h.key + k0 + r) * at.kv_ld + h.column;
            store_part(b.dk + key, &h, p, at.scale * dk[p][r - TILE_ROW]);
            store_part(b.dv + key, &h, p, dv[p][r - TILE_ROW]);
        }
    }
}

template <class T>
static void back(struct gpu_queue *q, void *dq, void *dk, void *dv, const void *dout,
                 const struct gpu_attention *at)
{
    float *mean = (float *)cuda_scratch(q, at->rows * at->heads * sizeof *mean);
    struct backward<T> b = {
        *at, (T *)dq, (T *)dk, (T *)dv, (const T *)dout, mean, drop_of(at)
    };
    if (!mean)
        return;
    LAUNCH(q, queries_back_kernel<T>, grid_of(at), ATTENTION_WARPS * WARP, b);
    LAUNCH(q, keys_back_kernel<T>, grid_of(at), ATTENTION_WARPS * WARP, b);
}

static void attention_back(struct gpu_queue *q, void *dq, void *dk, void *dv, const void *dout,
                           const struct gpu_attention *at)
{
    BY_TYPE(at->type, T, back<T>(q, dq, dk, dv, dout, at));
}

/* ---- for cuDNN's ---- */

__global__ static void ranges_kernel(struct cuda_ranges r, size_t n, struct gpu_attention at)
{
    size_t i = ELEMENT;
    if (i > n)
        return;
    size_t row = i < at.sequences ? at.first[i] : at.end[at.sequences - 1];
    r.rows[i] = (int32_t)(row * at.q_ld);
    r.results[i] = (int32_t)(row * at.heads * at.size);
    r.sums[i] = (int32_t)(row * at.heads);
    if (i < n)
        r.lengths[i] = i < at.sequences ? (int32_t)(at.end[i] - at.first[i]) : 0;
}

void cuda_ranges_of(struct gpu_queue *q, const struct cuda_ranges *r, size_t n,
                    const struct gpu_attention *at)
{
    LAUNCH_FLAT(q, ranges_kernel, cuda_cover(n + 1), THREADS, *r, n, *at);
}

void cuda_fill_attention(struct gpu_ops *t)
{
    t->attention = attention;
    t->attention_back = attention_back;
}
