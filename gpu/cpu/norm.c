/* Layer norm and L2 normalisation by rows, and backward. */
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/vec.h"

#include <math.h>

static const float EPSILON = 1e-5f;       /* layer norm's, as in PyTorch */
static const float LEAST_LENGTH = 1e-12f; /* L2 normalisation's */

static inline vf tail(const float *p, size_t n)
{
    return vf_load_part(p, n, 0);
}

static float row_sum(const float *x, size_t n)
{
    vf a = {0}, b = {0};
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a += vf_load(x + i);
        b += vf_load(x + i + LANES);
    }
    for (; i + LANES <= n; i += LANES)
        a += vf_load(x + i);
    if (i < n)
        b += tail(x + i, n - i);
    return vf_sum(a + b);
}

static float row_dot(const float *x, const float *y, size_t n)
{
    vf a = {0}, b = {0};
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a += vf_load(x + i) * vf_load(y + i);
        b += vf_load(x + i + LANES) * vf_load(y + i + LANES);
    }
    for (; i + LANES <= n; i += LANES)
        a += vf_load(x + i) * vf_load(y + i);
    if (i < n)
        b += tail(x + i, n - i) * tail(y + i, n - i);
    return vf_sum(a + b);
}

static float row_variance(const float *x, float mean, size_t n)
{
    vf a = {0}, b = {0};
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        vf s = vf_load(x + i) - mean, t = vf_load(x + i + LANES) - mean;
        a += s * s;
        b += t * t;
    }
    for (; i + LANES <= n; i += LANES) {
        vf s = vf_load(x + i) - mean;
        a += s * s;
    }
    if (i < n) {
        vf s = vf_load_part(x + i, n - i, mean) - mean;
        b += s * s;
    }
    return vf_sum(a + b) / (float)n;
}

static void norm(struct gpu_queue *q, float *restrict y, float *mean, float *rstd,
                 const float *restrict x, const float *restrict gamma, const float *restrict beta,
                 size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
        float mu = row_sum(x, cols) / (float)cols;
        float rs = 1.0f / sqrtf(row_variance(x, mu, cols) + EPSILON);
        for (size_t c = 0; c < cols; c++)
            y[c] = (x[c] - mu) * rs * gamma[c] + beta[c];
        mean[r] = mu;
        rstd[r] = rs;
    }
}

static void norm_back(struct gpu_queue *q, float *restrict dx, float *restrict dgamma,
                      float *restrict dbeta, const float *restrict dy, const float *restrict x,
                      const float *mean, const float *rstd, const float *restrict gamma,
                      size_t rows, size_t cols, bool accumulate)
{
    for (size_t r = 0; r < rows; r++, x += cols, dx += cols, dy += cols) {
        float mu = mean[r], rs = rstd[r];
        vf sum = {0}, dot = {0}; /* of dy*gamma, and of dy*gamma*xhat */
        size_t c = 0;
        for (; c + LANES <= cols; c += LANES) {
            vf d = vf_load(dy + c), hat = (vf_load(x + c) - mu) * rs;
            vf_store(dgamma + c, vf_load(dgamma + c) + d * hat);
            vf_store(dbeta + c, vf_load(dbeta + c) + d);
            d *= vf_load(gamma + c);
            sum += d;
            dot += d * hat;
        }
        float more_sum = 0, more_dot = 0;
        for (; c < cols; c++) {
            float d = dy[c], hat = (x[c] - mu) * rs;
            dgamma[c] += d * hat;
            dbeta[c] += d;
            d *= gamma[c];
            more_sum += d;
            more_dot += d * hat;
        }
        float s = (vf_sum(sum) + more_sum) / (float)cols,
              t = (vf_sum(dot) + more_dot) / (float)cols;
        if (accumulate)
            for (c = 0; c < cols; c++)
                dx[c] += rs * (dy[c] * gamma[c] - s - (x[c] - mu) * rs * t);
        else
            for (c = 0; c < cols; c++)
                dx[c] = rs * (dy[c] * gamma[c] - s - (x[c] - mu) * rs * t);
    }
}

static void normalize(struct gpu_queue *q, float *y, float *norms, const float *x, size_t rows,
                      size_t cols)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
        float length = sqrtf(row_dot(x, x, cols));
        norms[r] = length;
        float by = 1.0f / (length < LEAST_LENGTH ? LEAST_LENGTH : length);
        for (size_t c = 0; c < cols; c++)
            y[c] = x[c] * by;
    }
}

/* dx = (dy - y (y . dy)) / |x|; below the least length the division is by a constant. */
static void normalize_back(struct gpu_queue *q, float *dx, const float *dy, const float *restrict y,
                           const float *norms, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++, dx += cols, dy += cols, y += cols) {
        float along = norms[r] < LEAST_LENGTH ? 0 : row_dot(y, dy, cols);
        float by = 1.0f / (norms[r] < LEAST_LENGTH ? LEAST_LENGTH : norms[r]);
        for (size_t c = 0; c < cols; c++)
            dx[c] = (dy[c] - y[c] * along) * by;
    }
}

void CPU(fill_norm)(struct gpu_ops *t)
{
    t->norm = norm;
    t->norm_back = norm_back;
    t->normalize = normalize;
    t->normalize_back = normalize_back;
}
