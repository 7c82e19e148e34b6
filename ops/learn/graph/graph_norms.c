/* See graph_norms.h. */
#include "ops/learn/graph/graph_norms.h"

#include <math.h>

static const double EPSILON = 1e-5, MOMENTUM = 0.1;

void graph_norm_alloc(struct graph_norm *x, struct arena *a, size_t d)
{
    x->mean = arena_array(a, double, d);
    x->variance = arena_array(a, double, d);
    x->factor = arena_array(a, float, 4 * d);
    x->shift = x->factor + d;
    x->back = x->shift + d;
    x->back_shift = x->back + d;
}

static void apply(struct graph_norm *x, size_t c)
{
    double rstd = 1 / sqrt(x->variance[c] + EPSILON);
    x->factor[c] = (float)rstd;
    x->shift[c] = (float)(-x->mean[c] * rstd);
}

void graph_norm_of_sums(struct graph_norm *x, const double *sums, size_t n, size_t d)
{
    for (size_t c = 0; c < d; c++) {
        x->mean[c] = sums[c] / (double)n;
        x->variance[c] = fmax(0, sums[d + c] / (double)n - x->mean[c] * x->mean[c]);
        apply(x, c);
    }
}

/* With r = 1 / deviation and y = (h - mean) r: dh = r (dy - mean of dy - y * mean of dy y). */
void graph_norm_back(struct graph_norm *x, const double *sums, size_t n, size_t d)
{
    for (size_t c = 0; c < d; c++) {
        double r = 1 / sqrt(x->variance[c] + EPSILON), dy = sums[c] / (double)n;
        double along = r * (sums[d + c] / (double)n - x->mean[c] * dy);
        x->back[c] = (float)(-r * r * along);
        x->back_shift[c] = (float)(-r * dy + r * r * along * x->mean[c]);
    }
}

void graph_norm_running(struct graph_norm *x, const float *flat, const struct graph_model *m,
                        size_t norm)
{
    for (size_t c = 0; c < m->config.d; c++) {
        x->mean[c] = (double)flat[m->mean[norm] + c];
        x->variance[c] = (double)flat[m->variance[norm] + c];
        apply(x, c);
    }
}

static void move(float *running, double to)
{
    *running = (float)((1 - MOMENTUM) * (double)*running + MOMENTUM * to);
}

void graph_norm_move(float *flat, const struct graph_model *m, size_t i, const struct graph_norm *x,
                     size_t n)
{
    double unbiased = n > 1 ? (double)n / (double)(n - 1) : 1;
    for (size_t c = 0; c < m->config.d; c++) {
        move(&flat[m->mean[i] + c], x->mean[c]);
        move(&flat[m->variance[i] + c], x->variance[c] * unbiased);
    }
}

void graph_lengths_move(float *flat, const struct graph_model *m, const struct graph_lengths *x)
{
    move(&flat[m->length_mean], x->mean);
    move(&flat[m->length_deviation], x->deviation);
}

struct graph_lengths graph_lengths_running(const float *flat, const struct graph_model *m)
{
    return (struct graph_lengths){(double)flat[m->length_mean], (double)flat[m->length_deviation]};
}
