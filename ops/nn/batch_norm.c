#include "ops/nn/batch_norm.h"

#include <math.h>

static const double EPSILON = 1e-5, MOMENTUM = 0.1;

void batch_norm_alloc(struct batch_norm *x, struct arena *a, size_t d)
{
    x->mean = arena_array(a, double, d);
    x->variance = arena_array(a, double, d);
    x->factor = arena_array(a, float, 4 * d);
    x->shift = x->factor + d;
    x->back = x->shift + d;
    x->back_shift = x->back + d;
}

static void apply(struct batch_norm *x, size_t c)
{
    double rstd = 1 / sqrt(x->variance[c] + EPSILON);
    x->factor[c] = (float)rstd;
    x->shift[c] = (float)(-x->mean[c] * rstd);
}

void batch_norm_of_sums(struct batch_norm *x, const double *sums, size_t n, size_t d)
{
    for (size_t c = 0; c < d; c++) {
        x->mean[c] = sums[c] / (double)n;
        x->variance[c] = fmax(0, sums[d + c] / (double)n - x->mean[c] * x->mean[c]);
        apply(x, c);
    }
}

/* With r = 1 / deviation and y = (h - mean) r: dh = r (dy - mean(dy) - y * mean(dy * y)). */
void batch_norm_back(struct batch_norm *x, const double *sums, size_t n, size_t d)
{
    for (size_t c = 0; c < d; c++) {
        double r = 1 / sqrt(x->variance[c] + EPSILON), dy = sums[c] / (double)n;
        double along = r * (sums[d + c] / (double)n - x->mean[c] * dy);
        x->back[c] = (float)(-r * r * along);
        x->back_shift[c] = (float)(-r * dy + r * r * along * x->mean[c]);
    }
}

void batch_norm_running(struct batch_norm *x, const float *mean, const float *variance, size_t d)
{
    for (size_t c = 0; c < d; c++) {
        x->mean[c] = (double)mean[c];
        x->variance[c] = (double)variance[c];
        x->back[c] = x->back_shift[c] = 0;
        apply(x, c);
    }
}

void batch_norm_move_number(float *running, double to)
{
    *running = (float)((1 - MOMENTUM) * (double)*running + MOMENTUM * to);
}

void batch_norm_move(float *mean, float *variance, const struct batch_norm *x, size_t n, size_t d)
{
    double unbiased = n > 1 ? (double)n / (double)(n - 1) : 1;
    for (size_t c = 0; c < d; c++) {
        batch_norm_move_number(&mean[c], x->mean[c]);
        batch_norm_move_number(&variance[c], x->variance[c] * unbiased);
    }
}
