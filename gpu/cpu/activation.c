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

static inline vf gelu(vf x)
{
    vf density;
    return x * normal_cdf(&density, x);
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

static inline vf hyperbolic(vf x)
{
    return 2.0f * sigmoid(2.0f * x) - 1.0f;
}

/* Runs over a row in vectors: `n` lanes of each are real. */
#define FOR_LANES(c, n, cols)                                                                      \
    for (size_t c = 0, n; c < (cols) && (n = (cols)-c < LANES ? (cols)-c : LANES, 1); c += LANES)

static void relu(float *y, const float *x, const float *bias, size_t cols)
{
    size_t c = 0;
    if (bias)
        for (; c + LANES <= cols; c += LANES)
            vf_store(y + c, vf_max(vf_load(x + c) + vf_load(bias + c), vf_set(0)));
    else
        for (; c + LANES <= cols; c += LANES)
            vf_store(y + c, vf_max(vf_load(x + c), vf_set(0)));
    if (c < cols) {
        vf v = vf_load_part(x + c, cols - c, 0);
        v += bias ? vf_load_part(bias + c, cols - c, 0) : vf_set(0);
        vf_store_part(y + c, vf_max(v, vf_set(0)), cols - c);
    }
}

static void smooth(float *y, const float *x, const float *bias, size_t cols,
                   enum gpu_activation kind)
{
    FOR_LANES(c, n, cols)
    {
        vf v = vf_load_some(x + c, n);
        v = bias ? v + vf_load_some(bias + c, n) : v;
        v = kind == GPU_GELU ? gelu(v) : kind == GPU_TANH ? hyperbolic(v) : sigmoid(v);
        vf_store_some(y + c, v, n);
    }
}

static void activate(struct gpu_queue *q, enum gpu_type type, void *to, const void *from,
                     const float *bias, size_t rows, size_t cols, enum gpu_activation kind)
{
    float *y = to;
    const float *x = from;
    assert(type == GPU_TYPE_F32);
    for (size_t r = 0; r < rows; r++, x += cols, y += cols)
        if (kind == GPU_RELU)
            relu(y, x, bias, cols);
        else
            smooth(y, x, bias, cols, kind);
}

static void relu_back(float *dx, const float *dy, const float *saved, size_t cols)
{
    size_t c = 0;
    for (; c + LANES <= cols; c += LANES)
        vf_store(dx + c, (vf)((vf_load(saved + c) > 0.0f) & (vi)vf_load(dy + c)));
    if (c < cols) {
        vf d = vf_load_part(dy + c, cols - c, 0), s = vf_load_part(saved + c, cols - c, 0);
        vf_store_part(dx + c, (vf)((s > 0.0f) & (vi)d), cols - c);
    }
}

static void smooth_back(float *dx, const float *dy, const float *saved, const float *bias,
                        size_t cols, enum gpu_activation kind)
{
    FOR_LANES(c, n, cols)
    {
        vf s = vf_load_some(saved + c, n), d = vf_load_some(dy + c, n);
        vf slope = kind == GPU_GELU   ? gelu_slope(bias ? s + vf_load_some(bias + c, n) : s)
                   : kind == GPU_TANH ? 1.0f - s * s
                                      : s * (1.0f - s);
        vf_store_some(dx + c, d * slope, n);
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
        if (kind == GPU_RELU)
            relu_back(dx, dy, saved, cols);
        else
            smooth_back(dx, dy, saved, bias, cols, kind);
}

void CPU(fill_activation)(struct gpu_ops *t)
{
    t->activate = activate;
    t->activate_back = activate_back;
}
