/* See principal.h. By orthogonal iteration on the covariance, from fixed starts: the same bits
 * always. */
#include "ops/eval/report/principal.h"

#include <math.h>

enum { ROUNDS = 300 };

static double dot(const double *x, const double *y, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double normalize(double *x, uint32_t n)
{
    double length = sqrt(dot(x, x, n));
    for (uint32_t i = 0; i < n && length > 0; i++)
        x[i] /= length;
    return length;
}

static void covariance(double *c, double *mean, const struct vectors *v)
{
    uint32_t d = v->dim;
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 0; k < d; k++)
            mean[k] += (double)vectors_at(v, i)[k] / v->n;
    for (uint32_t i = 0; i < v->n; i++) {
        const float *x = vectors_at(v, i);
        for (uint32_t k = 0; k < d; k++)
            for (uint32_t l = 0; l <= k; l++)
                c[k * d + l] += ((double)x[k] - mean[k]) * ((double)x[l] - mean[l]) / v->n;
    }
    for (uint32_t k = 0; k < d; k++)
        for (uint32_t l = 0; l < k; l++)
            c[l * d + k] = c[k * d + l];
}

/* The largest direction of c that is orthogonal to `other` (NULL: any); returns its variance. */
static double largest(double *x, double *next, const double *c, const double *other, uint32_t d)
{
    double length = 0;
    for (uint32_t k = 0; k < d; k++)
        x[k] = 1 + (double)k / d * (k % 2 ? -1 : 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t k = 0; k < d; k++)
            next[k] = dot(c + k * d, x, d);
        double along = other ? dot(next, other, d) : 0;
        for (uint32_t k = 0; k < d; k++)
            x[k] = next[k] - (other ? along * other[k] : 0);
        length = normalize(x, d);
    }
    uint32_t most = 0;
    for (uint32_t k = 1; k < d; k++)
        most = fabs(x[k]) > fabs(x[most]) ? k : most;
    for (uint32_t k = 0, flip = x[most] < 0; flip && k < d; k++)
        x[k] = -x[k];
    return length;
}

struct plane principal_plane(struct arena *a, const struct vectors *v)
{
    uint32_t d = v->dim;
    double *c = arena_array(a, double, (size_t)d *d), *mean = arena_array(a, double, d);
    double *next = arena_array(a, double, d), *axis[2], all = 0;
    struct plane p = {arena_array(a, float, v->n), arena_array(a, float, v->n), {0}};
    covariance(c, mean, v);
    for (uint32_t k = 0; k < d; k++)
        all += c[k * d + k];
    for (int i = 0; i < 2; i++) {
        axis[i] = arena_array(a, double, d);
        double variance = largest(axis[i], next, c, i ? axis[0] : NULL, d);
        p.share[i] = all > 0 ? variance / all : 0;
    }
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 0; k < d; k++) {
            double from_mean = (double)vectors_at(v, i)[k] - mean[k];
            p.x[i] += (float)(from_mean * axis[0][k]);
            p.y[i] += (float)(from_mean * axis[1][k]);
        }
    return p;
}
