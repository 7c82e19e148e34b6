/* Activations, with their bias, and backward. */
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <assert.h>

/* Phi(x), the normal distribution function, by formula 7.1.26 of Abramowitz and Stegun for erf:
 * absolute error below 2e-7. *density gets exp(-x*x/2) / sqrt(2 pi). */
static inline vf normal_cdf(vf *density, vf x)
{
    vf z = x * 0.70710678118654752f;
    vf a = (vf)((vi)z & 0x7fffffff);
    vf t = 1.0f / (1.0f + 0.3275911f * a);
    vf g = vf_exp(-(z * z));
    vf p = vf_set(1.061405429f);
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    vf half = 0.5f * (p * t * g); /* (1 - erf(a)) / 2 */
    *density = g * 0.39894228040143268f;
    return vf_select(z < 0.0f, half, 1.0f - half);
}

static inline vf gelu_slope(vf x)
{
    vf density, cdf = normal_cdf(&density, x);
    return cdf + x * density;
}

static inline vf sigmoid(vf x)
{
    return 1.0f / (1.0f + vf_exp(-x));
}

static inline vf activation(vf x, enum gpu_activation kind)
{
    vf density;
    switch (kind) {
    case GPU_RELU: return vf_max(x, vf_set(0));
    case GPU_GELU: return x * normal_cdf(&density, x);
    case GPU_TANH: return 2.0f * sigmoid(2.0f * x) - 1.0f;
    case GPU_SIGMOID: break;
    }
    return sigmoid(x);
}

/* `saved` as in gpu.h, with the bias added for GELU. */
static inline vf gradient(vf dy, vf saved, enum gpu_activation kind)
{
    switch (kind) {
    case GPU_RELU: return (vf)((saved > 0.0f) & (vi)dy);
    case GPU_GELU: return dy * gelu_slope(saved);
    case GPU_TANH: return dy * (1.0f - saved * saved);
    case GPU_SIGMOID: break;
    }
    return dy * (saved * (1.0f - saved));
}

static void activate(struct gpu_queue *q, enum gpu_type type, void *to, const void *from,
                     const float *bias, size_t rows, size_t cols, enum gpu_activation kind)
{
    float *y = to;
    const float *x = from;
    assert(type == GPU_TYPE_F32);
    for (size_t r = 0; r < rows; r++, x += cols, y += cols)
        for (size_t c = 0; c < cols; c += LANES) {
            size_t n = cols - c;
            vf v = vf_load_some(x + c, n);
            if (bias)
                v += vf_load_some(bias + c, n);
            vf_store_some(y + c, activation(v, kind), n);
        }
}

static void activate_back(struct gpu_queue *q, enum gpu_type type, void *to, const void *from,
                          const void *kept, const float *bias, size_t rows, size_t cols,
                          enum gpu_activation kind)
{
    float *dx = to;
    const float *dy = from, *saved = kept;
    assert(type == GPU_TYPE_F32);
    for (size_t r = 0; r < rows; r++, dx += cols, dy += cols, saved += cols)
        for (size_t c = 0; c < cols; c += LANES) {
            size_t n = cols - c;
            vf s = vf_load_some(saved + c, n);
            if (bias && kind == GPU_GELU)
                s += vf_load_some(bias + c, n);
            vf_store_some(dx + c, gradient(vf_load_some(dy + c, n), s, kind), n);
        }
}

void CPU(fill_activation)(struct gpu_ops *t)
{
    t->activate = activate;
    t->activate_back = activate_back;
}
