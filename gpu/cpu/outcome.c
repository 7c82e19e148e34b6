/* Loss and gradient norm of a training step, and the updates that depend on them. Sums are in
 * double and in order, and products are rounded one by one: nothing here is compiled per
 * instruction set. */
#include "gpu/cpu/cpu_queue.h"

#include <assert.h>
#include <math.h>

static void sum_losses(struct gpu_queue *q, double *sums, const float *loss, const float *correct,
                       size_t n, double by)
{
    double total = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        total += loss ? loss[i] / by : 0;
        right += correct[i] / by;
    }
    if (loss)
        sums[0] = total;
    sums[1] = right;
}

static double bins_sum(const double *x)
{
    double s = 0;
    for (size_t i = 0; i < GPU_BINS; i++)
        s += x[i];
    return s;
}

/* The histogram loss (Ustinova and Lempitsky 2016): with h+ and h- as shares, the sum over bins r
 * of h-[r] * (h+[0] + ... + h+[r]), which estimates how likely a negative pair is at least as
 * similar as a positive one. The gradient is that by what a pair adds to the bins, the number of
 * pairs being given. Without a negative all is 0. */
static void histogram_loss(struct gpu_queue *q, double *bins, double *loss, size_t blocks)
{
    enum { N = 2 * GPU_BINS };
    for (size_t i = 1; i < blocks; i++)
        for (size_t k = 0; k < N; k++)
            bins[k] += bins[i * N + k];
    double *positive = bins, *negative = bins + GPU_BINS;
    double pairs = bins_sum(positive) * bins_sum(negative), by = pairs == 0 ? 0 : 1 / pairs;
    double up_to = 0, from = 0, sum = 0, dnegative[GPU_BINS];
    for (size_t r = 0; r < GPU_BINS; r++) {
        up_to += positive[r];
        dnegative[r] = by * up_to;
        sum += by * up_to * negative[r];
    }
    for (size_t r = GPU_BINS; r-- > 0;) {
        from += negative[r];
        positive[r] = by * from;
        negative[r] = dnegative[r];
    }
    *loss = sum;
}

static void conclude(struct gpu_queue *q, struct gpu_outcome *out, const double *sums, size_t parts,
                     double by, const double *squares, size_t n, double clip)
{
    struct gpu_outcome o = {.scale = 1};
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

static void combine(struct gpu_queue *q, float *z, uint16_t *rounded, float a, const float *x,
                    float b, const float *y, size_t n, const struct gpu_outcome *outcome,
                    bool clipped)
{
    assert(!rounded);
    if (outcome && outcome->skip)
        return;
    if (clipped)
        b *= outcome->scale;
    for (size_t i = 0; i < n; i++)
        z[i] = a * x[i] + b * y[i];
}

static void residual_norm(struct gpu_queue *q, void *y, enum gpu_type sum_type, const void *sum,
                          const float *base, const struct gpu_dropout *drop,
                          const struct gpu_norm *how)
{
    q->op->dropout(q, sum_type, how->x, sum, base, how->rows * how->cols, drop);
    q->op->norm(q, y, how);
}

void cpu_fill_outcome(struct gpu_ops *t)
{
    t->sum_losses = sum_losses;
    t->histogram_loss = histogram_loss;
    t->conclude = conclude;
    t->combine = combine;
    t->residual_norm = residual_norm;
}
