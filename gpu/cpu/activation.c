/* Activations, with their bias, and backward. */
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <math.h>

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

/* Runs over a row in vectors: `n` lanes of each are real. */
#define FOR_LANES(c, n, cols)                                                                      \
    for (size_t c = 0, n; c < (cols) && (n = (cols)-c < LANES ? (cols)-c : LANES, 1); c += LANES)

static void activate(struct gpu_queue *q, float *y, const float *x, const float *bias, size_t rows,
                     size_t cols, enum gpu_activation kind)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
        FOR_LANES(c, n, cols)
        {
            vf v = vf_load_some(x + c, n);
            if (bias)
                v += vf_load_some(bias + c, n);
            switch (kind) {
            case GPU_RELU: v = vf_max(v, vf_set(0)); break;
            case GPU_GELU: v = gelu(v); break;
            }
            vf_store_some(y + c, v, n);
        }
    }
}

static void activate_back(struct gpu_queue *q, float *dx, const float *dy, const float *saved,
                          const float *bias, size_t rows, size_t cols, enum gpu_activation kind)
{
    for (size_t r = 0; r < rows; r++, dx += cols, dy += cols, saved += cols) {
        FOR_LANES(c, n, cols)
        {
            vf s = vf_load_some(saved + c, n), d = vf_load_some(dy + c, n);
            switch (kind) {
            case GPU_RELU: d = (vf)((s > 0.0f) & (vi)d); break;
            case GPU_GELU: d *= gelu_slope(bias ? s + vf_load_some(bias + c, n) : s); break;
            }
            vf_store_some(dx + c, d, n);
        }
    }
}

void CPU(fill_activation)(struct gpu_ops *t)
{
    t->activate = activate;
    t->activate_back = activate_back;
}
