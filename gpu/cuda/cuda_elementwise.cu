/* Elementwise vector ops, activations, dropout. */
#include "gpu/cuda/launch.h"

#include <math.h>

__global__ static void fill_kernel(float *x, size_t n, float value)
{
    if (ELEMENT < n)
        x[ELEMENT] = value;
}

static void fill(struct gpu_queue *q, float *x, size_t n, float value)
{
    if (n && value == 0 && cuda_begin(q))
        cuda_did(q, cudaMemsetAsync(x, 0, n * sizeof *x, cuda_stream(q)), "clear memory");
    else if (n)
        LAUNCH_FLAT(q, fill_kernel, cuda_cover(n), THREADS, x, n, value);
}

__global__ static void add_kernel(float *y, const float *x, size_t n)
{
    if (ELEMENT < n)
        y[ELEMENT] += x[ELEMENT];
}

static void add(struct gpu_queue *q, float *y, const float *x, size_t n)
{
    LAUNCH_FLAT(q, add_kernel, cuda_cover(n), THREADS, y, x, n);
}

static void copy(struct gpu_queue *q, float *y, const float *x, size_t n)
{
    if (n && cuda_begin(q))
        cuda_did(q, cudaMemcpyAsync(y, x, n * sizeof *y, cudaMemcpyDeviceToDevice, cuda_stream(q)),
                 "copy memory");
}

__global__ static void copy_rows_kernel(float *y, size_t y_ld, const float *x, size_t x_ld,
                                        const uint32_t *from, size_t rows, size_t cols)
{
    size_t r = ELEMENT / cols, c = ELEMENT % cols;
    if (r < rows)
        y[r * y_ld + c] = x[(from ? from[r] : r) * x_ld + c];
}

static void copy_rows(struct gpu_queue *q, float *y, size_t y_ld, const float *x, size_t x_ld,
                      const uint32_t *from, size_t rows, size_t cols)
{
    LAUNCH_FLAT(q, copy_rows_kernel, cuda_cover(rows * cols), THREADS, y, y_ld, x, x_ld, from, rows,
                cols);
}

__global__ static void add_rows_kernel(float *y, const float *x, const float *factor, size_t n,
                                       size_t cols)
{
    if (ELEMENT < n)
        y[ELEMENT] += factor[ELEMENT / cols] * x[ELEMENT];
}

static void add_rows(struct gpu_queue *q, float *y, const float *x, const float *factor,
                     size_t rows, size_t cols)
{
    LAUNCH_FLAT(q, add_rows_kernel, cuda_cover(rows * cols), THREADS, y, x, factor, rows * cols,
                cols);
}

__global__ static void scale_kernel(float *x, size_t n, float factor)
{
    if (ELEMENT < n)
        x[ELEMENT] *= factor;
}

static void scale(struct gpu_queue *q, float *x, size_t n, float factor)
{
    LAUNCH_FLAT(q, scale_kernel, cuda_cover(n), THREADS, x, n, factor);
}

__global__ static void round_bf16_kernel(uint16_t *y, const float *x, size_t rows, size_t cols,
                                         size_t ld)
{
    size_t r = ELEMENT / cols, c = ELEMENT % cols;
    if (r < rows)
        y[ELEMENT] = bf16_bits(x[r * ld + c]);
}

static void round_bf16(struct gpu_queue *q, uint16_t *y, const float *x, size_t rows, size_t cols,
                       size_t ld)
{
    LAUNCH_FLAT(q, round_bf16_kernel, cuda_cover(rows * cols), THREADS, y, x, rows, cols, ld);
}

enum { SUM_MOST = 64 };
struct vectors {
    const float *at[SUM_MOST];
};

__global__ static void sum_many_kernel(float *y, struct vectors x, size_t count, size_t n)
{
    float part[SUM_MOST];
    if (ELEMENT >= n)
        return;
    for (size_t i = 0; i < count; i++)
        part[i] = x.at[i][ELEMENT];
    for (size_t k = count; k > 1; k = (k + 1) / 2)
        for (size_t j = 0; j < k / 2 + k % 2; j++)
            part[j] = 2 * j + 1 < k ? part[2 * j] + part[2 * j + 1] : part[2 * j];
    y[ELEMENT] = part[0];
}

static void sum_many(struct gpu_queue *q, float *y, const float *const *x, size_t count, size_t n)
{
    struct vectors all = {};
    for (size_t i = 0; i < count; i++)
        all.at[i] = x[i];
    LAUNCH_FLAT(q, sum_many_kernel, cuda_cover(n), THREADS, y, all, count, n);
}

__global__ static void add_bias_kernel(float *y, const float *x, const float *bias, size_t n,
                                       size_t cols)
{
    if (ELEMENT < n)
        y[ELEMENT] = x[ELEMENT] + bias[ELEMENT % cols];
}

static void add_bias(struct gpu_queue *q, float *y, const float *x, const float *bias, size_t rows,
                     size_t cols)
{
    if (bias)
        LAUNCH_FLAT(q, add_bias_kernel, cuda_cover(rows * cols), THREADS, y, x, bias, rows * cols,
                    cols);
    else if (y != x)
        copy(q, y, x, rows * cols);
}

/* ---- activations ---- */

__device__ static inline float normal_cdf(float x)
{
    return 0.5f * erfcf(-x * 0.70710678118654752f);
}

__device__ static inline float gelu_slope(float x)
{
    return normal_cdf(x) + x * 0.39894228040143268f * expf(-0.5f * x * x);
}

template <class T>
__global__ static void activate_kernel(T *y, const T *x, const float *bias, size_t n, size_t cols,
                                       enum gpu_activation kind)
{
    if (ELEMENT >= n)
        return;
    float v = value_of(x[ELEMENT]) + (bias ? bias[ELEMENT % cols] : 0);
    if (kind == GPU_GELU)
        v *= normal_cdf(v);
    else if (kind == GPU_TANH)
        v = tanhf(v);
    else if (kind == GPU_SIGMOID)
        v = 1 / (1 + expf(-v));
    else
        v = v > 0 ? v : v != v ? v : 0;
    put(y + ELEMENT, v);
}

static void activate(struct gpu_queue *q, enum gpu_type type, void *y, const void *x,
                     const float *bias, size_t rows, size_t cols, enum gpu_activation kind)
{
    BY_TYPE(type, T,
            LAUNCH_FLAT(q, activate_kernel<T>, cuda_cover(rows * cols), THREADS, (T *)y,
                        (const T *)x, bias, rows * cols, cols, kind));
}

template <class T>
__global__ static void activate_back_kernel(T *dx, const T *dy, const T *saved, const float *bias,
                                            size_t n, size_t cols, enum gpu_activation kind)
{
    if (ELEMENT >= n)
        return;
    float s = value_of(saved[ELEMENT]), d = value_of(dy[ELEMENT]);
    if (kind == GPU_GELU)
        d *= gelu_slope(bias ? s + bias[ELEMENT % cols] : s);
    else if (kind == GPU_TANH)
        d *= 1 - s * s;
    else if (kind == GPU_SIGMOID)
        d *= s * (1 - s);
    else
        d = s > 0 ? d : 0;
    put(dx + ELEMENT, d);
}

static void activate_back(struct gpu_queue *q, enum gpu_type type, void *dx, const void *dy,
                          const void *saved, const float *bias, size_t rows, size_t cols,
                          enum gpu_activation kind)
{
    BY_TYPE(type, T,
            LAUNCH_FLAT(q, activate_back_kernel<T>, cuda_cover(rows * cols), THREADS, (T *)dx,
                        (const T *)dy, (const T *)saved, bias, rows * cols, cols, kind));
}

template <class T> __global__ static void around_kernel(struct gpu_matmul mm)
{
    const T *base = (const T *)(mm.base ? mm.base : mm.c), *mask = (const T *)mm.mask;
    size_t r = ELEMENT / mm.n, c = ELEMENT % mm.n, at = r * mm.ldc + c;
    if (r >= mm.m)
        return;
    float x = mm.beta != 0 ? mm.beta * value_of(base[at]) : 0;
    if (mm.bias)
        x += value_of(((const T *)mm.bias)[c]);
    if ((mm.relu && x < 0) || (mask && !(value_of(mask[at]) > 0)))
        x = 0;
    put((T *)mm.c + at, x);
}

void cuda_around_product(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    BY_TYPE(mm->write, T,
            LAUNCH_FLAT(q, around_kernel<T>, cuda_cover(mm->m * mm->n), THREADS, *mm));
}

/* ---- dropout ---- */

template <class T>
__global__ static void dropout_kernel(T *y, const T *x, const T *base, size_t n,
                                      struct dropping drop)
{
    if (ELEMENT >= n)
        return;
    float v = dropped(&drop, value_of(x[ELEMENT]), ELEMENT);
    put(y + ELEMENT, base ? value_of(base[ELEMENT]) + v : v);
}

static void dropout(struct gpu_queue *q, enum gpu_type type, void *y, const void *x,
                    const void *base, size_t n, const struct gpu_dropout *drop)
{
    BY_TYPE(type, T,
            LAUNCH_FLAT(q, dropout_kernel<T>, cuda_cover(n), THREADS, (T *)y, (const T *)x,
                        (const T *)base, n, dropping_of(drop)));
}

void cuda_fill_elementwise(struct gpu_ops *t)
{
    t->fill = fill;
    t->add = add;
    t->copy = copy;
    t->copy_rows = copy_rows;
    t->scale = scale;
    t->round_bf16 = round_bf16;
    t->sum_many = sum_many;
    t->add_bias = add_bias;
    t->add_rows = add_rows;
    t->activate = activate;
    t->activate_back = activate_back;
    t->dropout = dropout;
}
