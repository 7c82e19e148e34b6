/* Loss and gradient norm of a training step, and the updates that depend on them. The order of sums
 * depends only on the sizes. */
#include "gpu/cuda/launch.h"

#include <math.h>

/* ---- losses ---- */

/* One block. */
__global__ static void losses_kernel(double *sums, const float *loss, const float *correct,
                                     size_t n, double by)
{
    __shared__ double total[THREADS], right[THREADS];
    unsigned i = threadIdx.x;
    double t = 0, r = 0;
    for (size_t k = i; k < n; k += THREADS) {
        t += loss ? loss[k] / by : 0;
        r += correct[k] / by;
    }
    total[i] = t;
    right[i] = r;
    for (unsigned half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (i < half) {
            total[i] += total[i + half];
            right[i] += right[i + half];
        }
    }
    if (i == 0) {
        if (loss)
            sums[0] = total[0];
        sums[1] = right[0];
    }
}

static void sum_losses(struct gpu_queue *q, double *sums, const float *loss, const float *correct,
                       size_t n, double by)
{
    LAUNCH(q, losses_kernel, 1, THREADS, sums, loss, correct, n, by);
}

/* One block, one thread per bin of the two histograms; see gpu/cpu/outcome.c. */
__global__ static void histogram_loss_kernel(double *bins, double *loss, size_t blocks)
{
    __shared__ double h[2 * GPU_BINS];
    unsigned k = threadIdx.x, r = k % GPU_BINS;
    double sum = 0, pairs[2] = {0, 0}, d = 0, all = 0;
    for (size_t i = 0; i < blocks; i++)
        sum += bins[i * 2 * GPU_BINS + k];
    h[k] = sum;
    __syncthreads();
    for (unsigned i = 0; i < 2 * GPU_BINS; i++)
        pairs[i / GPU_BINS] += h[i];
    double by = pairs[0] * pairs[1] == 0 ? 0 : 1 / (pairs[0] * pairs[1]);
    for (unsigned i = 0; i < GPU_BINS; i++)
        if (k < GPU_BINS ? i >= r : i <= r)
            d += k < GPU_BINS ? h[GPU_BINS + i] : h[i];
    bins[k] = by * d;
    __syncthreads();
    if (k >= GPU_BINS) /* a negative's part of the loss is its count times its gradient */
        h[k] *= by * d;
    __syncthreads();
    for (unsigned i = GPU_BINS; k == 0 && i < 2 * GPU_BINS; i++)
        all += h[i];
    if (k == 0)
        *loss = all;
}

static void histogram_loss(struct gpu_queue *q, double *bins, double *loss, size_t blocks)
{
    LAUNCH(q, histogram_loss_kernel, 1, 2 * GPU_BINS, bins, loss, blocks);
}

/* ---- the outcome ---- */

__global__ static void conclude_kernel(struct gpu_outcome *out, const double *sums, size_t parts,
                                       double by, const double *squares, size_t n, double clip)
{
    struct gpu_outcome o = {0, 0, 0, 1, 0};
    double sum = 0;
    if (out->skip)
        return;
    for (size_t i = 0; i < parts; i++) {
        o.loss += sums[2 * i] / by;
        o.accuracy += sums[2 * i + 1] / by;
    }
    for (size_t i = 0; i < n; i++)
        sum += squares[i];
    o.norm = sqrt(sum);
    if (clip > 0 && o.norm + 1e-6 > clip)
        o.scale = (float)(clip / (o.norm + 1e-6));
    o.skip = !isfinite(o.loss) || !isfinite(o.norm);
    *out = o;
}

static void conclude(struct gpu_queue *q, struct gpu_outcome *out, const double *sums, size_t parts,
                     double by, const double *squares, size_t n, double clip)
{
    LAUNCH_FLAT(q, conclude_kernel, 1, 1, out, sums, parts, by, squares, n, clip);
}

/* ---- updates ---- */

struct adam {
    float beta1, beta2, eps, decay, coupled, rate, root;
    const struct gpu_outcome *outcome;
};

__global__ static void adamw_kernel(float *p, uint16_t *rounded, float *m, float *v, const float *g,
                                    size_t n, struct adam h)
{
    size_t i = ELEMENT;
    if (i >= n || h.outcome->skip)
        return;
    float gi = g[i] * h.outcome->scale + h.coupled * p[i];
    float mi = h.beta1 * m[i] + (1 - h.beta1) * gi, vi = h.beta2 * v[i] + (1 - h.beta2) * gi * gi;
    m[i] = mi;
    v[i] = vi;
    float next = p[i] * h.decay - h.rate * mi / (sqrtf(vi) * h.root + h.eps);
    p[i] = next;
#if EQLOOM_PLANT != 5
    if (rounded)
        rounded[i] = bf16_bits(next);
#endif
}

static void adamw(struct gpu_queue *q, float *p, uint16_t *rounded, float *m, float *v,
                  const float *g, size_t n, const struct gpu_adamw *how)
{
    struct adam h = {how->beta1,
                     how->beta2,
                     how->eps,
                     how->coupled ? 1.0f : 1.0f - how->lr * how->weight_decay,
                     how->coupled ? how->weight_decay : 0.0f,
                     how->lr / how->correction1,
                     1.0f / sqrtf(how->correction2),
                     how->outcome};
    LAUNCH_FLAT(q, adamw_kernel, cuda_cover(n), THREADS, p, rounded, m, v, g, n, h);
}

__global__ static void rmsprop_kernel(float *p, float *m, float *v, const float *g, size_t n,
                                      struct gpu_rmsprop h)
{
    size_t i = ELEMENT;
    if (i >= n || h.outcome->skip)
        return;
    float gi = fminf(fmaxf(g[i] * h.outcome->scale, -h.clip), h.clip), before = m[i];
    float vi = h.decay * v[i] + (1 - h.decay) * gi * gi;
    float mi = h.momentum * before - h.lr / sqrtf(1e-10f + vi) * gi;
    v[i] = vi;
    m[i] = mi;
    p[i] += (1 + h.momentum) * mi - h.momentum * before;
}

static void rmsprop(struct gpu_queue *q, float *p, float *m, float *v, const float *g, size_t n,
                    const struct gpu_rmsprop *how)
{
    LAUNCH_FLAT(q, rmsprop_kernel, cuda_cover(n), THREADS, p, m, v, g, n, *how);
}

__global__ static void combine_kernel(float *z, uint16_t *rounded, float a, const float *x, float b,
                                      const float *y, size_t n, const struct gpu_outcome *outcome,
                                      bool clipped)
{
    if (ELEMENT >= n || (outcome && outcome->skip))
        return;
    float next = a * x[ELEMENT] + (clipped ? b * outcome->scale : b) * y[ELEMENT];
    z[ELEMENT] = next;
    if (rounded)
        rounded[ELEMENT] = bf16_bits(next);
}

static void combine(struct gpu_queue *q, float *z, uint16_t *rounded, float a, const float *x,
                    float b, const float *y, size_t n, const struct gpu_outcome *outcome,
                    bool clipped)
{
    LAUNCH_FLAT(q, combine_kernel, cuda_cover(n), THREADS, z, rounded, a, x, b, y, n, outcome,
                clipped);
}

void cuda_fill_outcome(struct gpu_ops *t)
{
    t->sum_losses = sum_losses;
    t->histogram_loss = histogram_loss;
    t->conclude = conclude;
    t->adamw = adamw;
    t->rmsprop = rmsprop;
    t->combine = combine;
}
