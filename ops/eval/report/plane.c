#include "ops/eval/report/plane.h"

#include "base/isa.h"
#include "base/rng.h"

#include <math.h>

/* ---- principal components: orthogonal iteration on the covariance, from fixed starts ---- */

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

/* Finds the direction of largest variance of c that is orthogonal to `other`, if not NULL; returns
 * its variance. */
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

/* ---- t-SNE ---- */

/* Each iteration makes one pass over all pairs: attraction and repulsion of a point and its share
 * of the normaliser are summed in fixed lanes, points in parallel. The initial layout is a small
 * random projection; early exaggeration, momentum and gains are as in the paper. */

typedef float lanes __attribute__((vector_size(VECTOR_LANES * sizeof(float)), aligned(4)));

struct work {
    const struct vectors *v;
    double log_perplexity;
    uint32_t n, stride; /* stride: n rounded up to VECTOR_LANES */
    float *p;           /* (n, stride): conditional, then joint */
    float *x, *y;       /* padded with distant points whose weight is negligible */
    struct force {
        float attract_x, attract_y, repel_x, repel_y, share;
    } * force;
};

/* Finds the bandwidth at which the entropy of the neighbours matches the perplexity. */
static void find_neighbours(void *arg, size_t item, unsigned worker)
{
    struct work *w = arg;
    uint32_t i = (uint32_t)item;
    float *row = w->p + item * w->stride;
    double low = 0, high = INFINITY, beta = 1;
    for (uint32_t j = 0; j < w->n; j++) /* squared distance on the unit sphere */
        row[j] = 2 - 2 * vector_dot(vectors_at(w->v, i), vectors_at(w->v, j), w->v->stride);
    for (int step = 0; step < 60; step++) {
        double sum = 0, moment = 0;
        for (uint32_t j = 0; j < w->n; j++)
            if (j != i) {
                double weight = exp(-beta * (double)row[j]);
                sum += weight;
                moment += weight * (double)row[j];
            }
        double entropy = sum > 0 ? log(sum) + beta * moment / sum : 0;
        if (fabs(entropy - w->log_perplexity) < 1e-5)
            break;
        if (entropy > w->log_perplexity)
            low = beta;
        else
            high = beta;
        beta = isinf(high) ? 2 * beta : (low + high) / 2;
    }
    double sum = 0;
    for (uint32_t j = 0; j < w->n; j++) {
        row[j] = j == i ? 0 : (float)exp(-beta * (double)row[j]);
        sum += (double)row[j];
    }
    for (uint32_t j = 0; j < w->n && sum > 0; j++)
        row[j] = (float)((double)row[j] / sum);
}

static void make_joint(struct work *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            float *ij = &w->p[(size_t)i * w->stride + j], *ji = &w->p[(size_t)j * w->stride + i];
            *ij = *ji = (*ij + *ji) / (2 * (float)w->n);
        }
}

static float sum_of(lanes s)
{
    float sum = 0;
    for (int i = 0; i < VECTOR_LANES; i++)
        sum += s[i];
    return sum;
}

EQL_CLONES static void forces_on(struct work *w, uint32_t i)
{
    const float *row = w->p + (size_t)i * w->stride;
    lanes ax = {0}, ay = {0}, rx = {0}, ry = {0}, z = {0}, one = ax + 1;
    float xi = w->x[i], yi = w->y[i];
    for (uint32_t j = 0; j < w->stride; j += VECTOR_LANES) {
        lanes dx = xi - *(const lanes *)(w->x + j), dy = yi - *(const lanes *)(w->y + j);
        lanes q = one / (one + dx * dx + dy * dy), pq = *(const lanes *)(row + j) * q, qq = q * q;
        ax += pq * dx;
        ay += pq * dy;
        rx += qq * dx;
        ry += qq * dy;
        z += q;
    }
    w->force[i] = (struct force){sum_of(ax), sum_of(ay), sum_of(rx), sum_of(ry),
                                 sum_of(z) - 1 /* without itself */};
}

static void find_forces(void *arg, size_t item, unsigned worker)
{
    struct work *w = arg;
    uint32_t end = ((uint32_t)item + 1) * 32 < w->n ? ((uint32_t)item + 1) * 32 : w->n;
    for (uint32_t i = (uint32_t)item * 32; i < end; i++)
        forces_on(w, i);
}

struct axis {
    float *at, *speed, *gain;
};

static void move(struct axis *axis, uint32_t i, double gradient, double momentum, double rate)
{
    bool same = (gradient > 0) == (axis->speed[i] > 0);
    axis->gain[i] = same ? axis->gain[i] * 0.8f : axis->gain[i] + 0.2f;
    if (axis->gain[i] < 0.01f)
        axis->gain[i] = 0.01f;
    axis->speed[i] =
        (float)(momentum * (double)axis->speed[i] - rate * (double)axis->gain[i] * gradient);
    axis->at[i] += axis->speed[i];
}

static void centre(float *at, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)at[i];
    for (uint32_t i = 0; i < n; i++)
        at[i] -= (float)(sum / n);
}

static struct axis axis_new(struct arena *a, struct work *w, uint64_t seed)
{
    struct axis axis = {arena_array(a, float, w->stride), arena_array(a, float, w->n),
                        arena_array(a, float, w->n)};
    struct rng rng = rng_new(seed, 0);
    float *direction = arena_array(a, float, w->v->stride);
    for (uint32_t d = 0; d < w->v->dim; d++)
        direction[d] = (float)rng_normal(&rng);
    for (uint32_t i = 0; i < w->stride; i++) {
        axis.at[i] = 1e18f;
        if (i >= w->n)
            continue;
        axis.gain[i] = 1;
        axis.at[i] = 1e-2f * vector_dot(direction, vectors_at(w->v, i), w->v->stride) +
                     (float)(1e-4 * rng_normal(&rng));
    }
    centre(axis.at, w->n);
    return axis;
}

struct plane tsne_plane(struct arena *a, const struct vectors *v,
                        const struct tsne_options *options, struct pool *pool)
{
    struct work w = {.v = v, .n = v->n};
    double perplexity = fmin(options->perplexity, (v->n - 1) / 3.0);
    w.log_perplexity = log(fmax(perplexity, 1));
    w.stride = (v->n + VECTOR_LANES - 1) & ~(VECTOR_LANES - 1u);
    w.p = arena_array(a, float, (size_t)w.n *w.stride);
    w.force = arena_array(a, struct force, w.n);
    struct axis ax = axis_new(a, &w, options->seed), ay = axis_new(a, &w, options->seed + 1);
    w.x = ax.at;
    w.y = ay.at;
    pool_for(pool, w.n, find_neighbours, &w);
    make_joint(&w);
    double rate = fmax(w.n / 12.0 / 4, 50);
    for (uint32_t t = 0; t < options->iterations; t++) {
        bool early = t < options->iterations / 4;
        double exaggeration = early ? 12 : 1, momentum = early ? 0.5 : 0.8, z = 0;
        pool_for(pool, (w.n + 31) / 32, find_forces, &w);
        for (uint32_t i = 0; i < w.n; i++)
            z += (double)w.force[i].share;
        for (uint32_t i = 0; i < w.n; i++) {
            const struct force *f = &w.force[i];
            move(&ax, i, 4 * (exaggeration * (double)f->attract_x - (double)f->repel_x / z),
                 momentum, rate);
            move(&ay, i, 4 * (exaggeration * (double)f->attract_y - (double)f->repel_y / z),
                 momentum, rate);
        }
        centre(w.x, w.n);
        centre(w.y, w.n);
    }
    return (struct plane){.x = w.x, .y = w.y};
}
