/* Elementwise vector ops, sums of vectors, and the optimizer. Plain loops that the compiler
 * vectorises; only reductions to a scalar use explicit vectors, for a fixed order. */
#include "base/rng.h"
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <assert.h>
#include <math.h>

static void fill(struct gpu_queue *q, float *x, size_t n, float value)
{
    for (size_t i = 0; i < n; i++)
        x[i] = value;
}

static void add(struct gpu_queue *q, float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

static void copy(struct gpu_queue *q, float *y, const float *x, size_t n)
{
    if (n)
        memcpy(y, x, n * sizeof *y);
}

static void copy_rows(struct gpu_queue *q, float *y, size_t y_ld, const float *x, size_t x_ld,
                      const uint32_t *from, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        copy(q, y + i * y_ld, x + (from ? from[i] : i) * x_ld, cols);
}

static void scale(struct gpu_queue *q, float *x, size_t n, float factor)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    /* NaN stays NaN, whatever bits of its payload are cut off. */
    bool nan = (bits & 0x7fffffff) > 0x7f800000;
    return (uint16_t)(nan ? bits >> 16 | 0x40 : rounded);
}

static void round_bf16(struct gpu_queue *q, uint16_t *restrict y, const float *restrict x,
                       size_t rows, size_t cols, size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            y[i * cols + j] = to_bf16(x[i * ld + j]);
}

/* Blocks that fit the L1 cache during the pairwise summation. */
enum { SUM_BLOCK = 256, SUM_MOST = 64 };

static void sum_many(struct gpu_queue *q, float *y, const float *const *x, size_t count, size_t n)
{
    assert(count >= 1 && count <= SUM_MOST);
    float part[SUM_MOST / 2 + 1][SUM_BLOCK];
    for (size_t at = 0; at < n; at += SUM_BLOCK) {
        size_t len = n - at < SUM_BLOCK ? n - at : SUM_BLOCK, k = (count + 1) / 2;
        for (size_t j = 0; j < k; j++) {
            const float *a = x[2 * j] + at, *b = 2 * j + 1 < count ? x[2 * j + 1] + at : NULL;
            for (size_t i = 0; i < len; i++)
                part[j][i] = b ? a[i] + b[i] : a[i];
        }
        for (; k > 1; k = (k + 1) / 2)
            for (size_t j = 0; j < (k + 1) / 2; j++)
                for (size_t i = 0; i < len; i++)
                    part[j][i] =
                        2 * j + 1 < k ? part[2 * j][i] + part[2 * j + 1][i] : part[2 * j][i];
        memcpy(y + at, part[0], len * sizeof *y);
    }
}

static void add_rows(struct gpu_queue *q, float *restrict y, const float *restrict x,
                     const float *factor, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols)
        for (size_t c = 0; c < cols; c++)
            y[c] += factor[r] * x[c];
}

static void add_bias(struct gpu_queue *q, float *y, const float *x, const float *bias, size_t rows,
                     size_t cols)
{
    if (!bias) {
        if (y != x)
            copy(q, y, x, rows * cols);
        return;
    }
    for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
        size_t c = 0;
        for (; c + LANES <= cols; c += LANES)
            vf_store(y + c, vf_load(x + c) + vf_load(bias + c));
        for (; c < cols; c++)
            y[c] = x[c] + bias[c];
    }
}

static void add_columns(struct gpu_queue *q, float *restrict sum, enum gpu_type type,
                        const void *from, size_t rows, size_t cols)
{
    const float *restrict x = from;
    assert(type == GPU_TYPE_F32);
    size_t c = 0;
    for (; c + 4 * LANES <= cols; c += 4 * LANES) {
        vf s[4] = {0};
        for (size_t r = 0; r < rows; r++)
            for (int i = 0; i < 4; i++)
                s[i] += vf_load(x + r * cols + c + (size_t)i * LANES);
        for (int i = 0; i < 4; i++)
            vf_store(sum + c + i * LANES, vf_load(sum + c + i * LANES) + s[i]);
    }
    for (; c < cols; c++) {
        float s = 0;
        for (size_t r = 0; r < rows; r++)
            s += x[r * cols + c];
        sum[c] += s;
    }
}

static void sum_squares(struct gpu_queue *q, double *out, const float *x, size_t n)
{
    enum { D = 8 };
    double s[D] = {0};
    size_t i = 0;
    for (; i + D <= n; i += D)
        for (int j = 0; j < D; j++)
            s[j] += (double)x[i + (size_t)j] * x[i + (size_t)j];
    for (; i < n; i++)
        s[0] += (double)x[i] * x[i];
    *out = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/* A 32-bit finaliser of low bias (Wellons' lowbias32), keyed twice: fast in vectors, and computes
 * any element's bits without the earlier ones. */
static inline uint32_t dropout_bits(uint32_t x, uint32_t key0, uint32_t key1)
{
    x ^= key0;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x ^= key1;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

static inline float dropped(float x, uint32_t at, const uint32_t key[2], uint32_t threshold,
                            float keep)
{
    return dropout_bits(at, key[0], key[1]) >= threshold ? x * keep : 0.0f;
}

static void dropout(struct gpu_queue *q, enum gpu_type type, void *to, const void *from,
                    const void *added, size_t n, const struct gpu_dropout *drop)
{
    float *y = to;
    const float *x = from, *base = added;
    uint32_t threshold = (uint32_t)((double)drop->rate * 4294967296.0);
    float keep = 1.0f / (1.0f - drop->rate);
    assert(type == GPU_TYPE_F32);
    for (size_t i = 0; i < n;) {
        /* The high half of the counter determines the keys; the loop counts in 32 bits. */
        uint64_t at = drop->first + i, mixed = rng_mix(drop->key ^ rng_mix(at >> 32));
        uint64_t room = (UINT64_C(1) << 32) - (at & 0xffffffffu);
        size_t len = n - i < room ? n - i : (size_t)room;
        uint32_t start = (uint32_t)at, keys[2] = {(uint32_t)mixed, (uint32_t)(mixed >> 32)};
        if (base)
            for (size_t j = i; j < i + len; j++)
                y[j] = base[j] + dropped(x[j], start + (uint32_t)(j - i), keys, threshold, keep);
        else
            for (size_t j = i; j < i + len; j++)
                y[j] = dropped(x[j], start + (uint32_t)(j - i), keys, threshold, keep);
        i += len;
    }
}

static void adamw(struct gpu_queue *q, float *restrict p, uint16_t *rounded, float *restrict m,
                  float *restrict v, const float *restrict g, size_t n, const struct gpu_adamw *how)
{
    assert(!rounded);
    struct gpu_adamw h = *how;
    float decay = h.coupled ? 1.0f : 1.0f - h.lr * h.weight_decay, rate = h.lr / h.correction1;
    float root = 1.0f / sqrtf(h.correction2), one1 = 1.0f - h.beta1, one2 = 1.0f - h.beta2;
    float coupled = h.coupled ? h.weight_decay : 0.0f, scale = h.outcome->scale;
    if (h.outcome->skip)
        return;
    for (size_t i = 0; i < n; i++) {
        float gi = g[i] * scale + coupled * p[i];
        m[i] = h.beta1 * m[i] + one1 * gi;
        v[i] = h.beta2 * v[i] + one2 * gi * gi;
        p[i] = p[i] * decay - rate * m[i] / (sqrtf(v[i]) * root + h.eps);
    }
}

static void rmsprop(struct gpu_queue *q, float *restrict p, float *restrict m, float *restrict v,
                    const float *restrict g, size_t n, const struct gpu_rmsprop *how)
{
    struct gpu_rmsprop h = *how;
    float scale = h.outcome->scale, rest = 1.0f - h.decay;
    if (h.outcome->skip)
        return;
    for (size_t i = 0; i < n; i++) {
        float gi = g[i] * scale, before = m[i];
        gi = gi < -h.clip ? -h.clip : gi > h.clip ? h.clip : gi;
        v[i] = h.decay * v[i] + rest * gi * gi;
        m[i] = h.momentum * before - h.lr / sqrtf(1e-10f + v[i]) * gi;
        p[i] += (1 + h.momentum) * m[i] - h.momentum * before;
    }
}

void CPU(fill_elementwise)(struct gpu_ops *t)
{
    t->fill = fill;
    t->add = add;
    t->copy = copy;
    t->copy_rows = copy_rows;
    t->scale = scale;
    t->round_bf16 = round_bf16;
    t->sum_many = sum_many;
    t->add_rows = add_rows;
    t->add_bias = add_bias;
    t->add_columns = add_columns;
    t->sum_squares = sum_squares;
    t->dropout = dropout;
    t->adamw = adamw;
    t->rmsprop = rmsprop;
}
