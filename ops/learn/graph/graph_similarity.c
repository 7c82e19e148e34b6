/* See graph_similarity.h. A few hundred products of short vectors: the host does them in double. */
#include "ops/learn/graph/graph_similarity.h"

#include "ops/nn/batch_norm.h"

#include <math.h>
#include <string.h>

enum { BINS = 64 };

static double dot(const float *x, const float *y, size_t d)
{
    double s = 0;
    for (size_t i = 0; i < d; i++)
        s += (double)x[i] * y[i];
    return s;
}

struct graph_lengths graph_lengths_of(const float *vectors, size_t n, size_t d)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += sqrt(dot(vectors + i * d, vectors + i * d, d));
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double off = sqrt(dot(vectors + i * d, vectors + i * d, d)) - mean;
        squares += off * off;
    }
    return (struct graph_lengths){mean, n > 1 ? sqrt(squares / (double)(n - 1)) : 0};
}

/* ---- losses: of similarities, positive (n) and negative (n), which become their gradients ---- */

static double triplet(double *positive, double *negative, size_t n, double margin)
{
    double loss = 0;
    for (size_t i = 0; i < n; i++) {
        double x = margin - positive[i] + negative[i], d = x > 0 ? 1 / (double)n : 0;
        loss += d * x;
        positive[i] = -d;
        negative[i] = d;
    }
    return loss;
}

/* Between which bins, and how far on the way. */
static size_t bin_of(double *part, double s)
{
    double at = (s + 1) * (BINS - 1) / 2;
    at = at < 0 ? 0 : at > BINS - 1 ? BINS - 1 : at;
    size_t bin = at >= BINS - 1 ? BINS - 2 : (size_t)at;
    *part = at - (double)bin;
    return bin;
}

static void count(double bins[BINS], const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double part;
        size_t bin = bin_of(&part, s[i]);
        bins[bin] += (1 - part) / (double)n;
        bins[bin + 1] += part / (double)n;
    }
}

static void uncount(double *s, const double dbins[BINS], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double part;
        size_t bin = bin_of(&part, s[i]);
        bool within = s[i] > -1 && s[i] < 1;
        s[i] = within ? (dbins[bin + 1] - dbins[bin]) * (BINS - 1) / 2 / (double)n : 0;
    }
}

/* How likely a negative pair is at least as similar as a positive one. */
static double histogram(double *positive, double *negative, size_t n)
{
    double p[BINS] = {0}, q[BINS] = {0}, dp[BINS], dq[BINS], up_to = 0, from = 0, loss = 0;
    count(p, positive, n);
    count(q, negative, n);
    for (size_t r = 0; r < BINS; r++) {
        up_to += p[r];
        dq[r] = up_to;
        loss += q[r] * up_to;
    }
    for (size_t r = BINS; r-- > 0;) {
        from += q[r];
        dp[r] = from;
    }
    uncount(positive, dp, n);
    uncount(negative, dq, n);
    return loss;
}

/* ---- gradients of vectors ---- */

/* dv (3n, d) of the scaled vectors v, from the gradients of s = v . v' of each pair. */
static void pairs_back(double *dv, const float *vectors, double scale, const double *positive,
                       const double *negative, size_t n, size_t d)
{
    const float *p = vectors + n * d, *q = p + n * d;
    double *dp = dv + n * d, *dq = dp + n * d;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i * d; k < (i + 1) * d; k++) {
            dv[k] = scale * (positive[i] * p[k] + negative[i] * q[k]);
            dp[k] = scale * positive[i] * vectors[k];
            dq[k] = scale * negative[i] * vectors[k];
        }
}

/* With v = x / c, c = mean + deviation of |x|: dx = dv / c - (sum of dv . v) / c * dc/dx. */
static void scale_back(float *x, const double *dv, size_t n, size_t d, double scale,
                       const struct graph_lengths *lengths)
{
    double along = 0;
    for (size_t k = 0; k < n * d; k++)
        along += dv[k] * scale * x[k];
    for (size_t i = 0; i < n; i++) {
        double length = sqrt(dot(x + i * d, x + i * d, d)), dc = 1 / (double)n;
        if (lengths->deviation > 0)
            dc += (length - lengths->mean) / ((double)(n - 1) * lengths->deviation);
        double by = length > 0 ? -along * scale * dc / length : 0;
        for (size_t k = i * d; k < (i + 1) * d; k++)
            x[k] = (float)(dv[k] * scale + by * x[k]);
    }
}

struct graph_score graph_similarity_loss(float *vectors, size_t batch, size_t d,
                                         enum graph_similarity kind, double margin,
                                         const struct graph_lengths *lengths, bool gradient,
                                         struct arena *a)
{
    double c = lengths->mean + lengths->deviation, scale = c > 0 ? 1 / c : 0;
    double *positive = arena_array(a, double, 2 * batch), *negative = positive + batch;
    const float *p = vectors + batch * d, *q = p + batch * d;
    struct graph_score r = {0};
    for (size_t i = 0; i < batch; i++) {
        positive[i] = scale * scale * dot(vectors + i * d, p + i * d, d);
        negative[i] = scale * scale * dot(vectors + i * d, q + i * d, d);
        double order = positive[i] > negative[i] ? 1 : positive[i] == negative[i] ? 0.5 : 0;
        r.accuracy += order / (double)batch;
    }
    switch (kind) {
    case GRAPH_NO_SIMILARITY: memset(positive, 0, 2 * batch * sizeof *positive); break;
    case GRAPH_TRIPLET: r.loss = triplet(positive, negative, batch, margin); break;
    case GRAPH_HISTOGRAM: r.loss = histogram(positive, negative, batch); break;
    }
    if (gradient) {
        double *dv = arena_array(a, double, 3 * batch * d);
        pairs_back(dv, vectors, scale, positive, negative, batch, d);
        scale_back(vectors, dv, 3 * batch, d, scale, lengths);
    }
    return r;
}

struct graph_lengths graph_lengths_running(const float *flat, const struct graph_model *m)
{
    return (struct graph_lengths){(double)flat[m->length_mean], (double)flat[m->length_deviation]};
}

void graph_lengths_move(float *flat, const struct graph_model *m, const struct graph_lengths *x)
{
    batch_norm_move_number(&flat[m->length_mean], x->mean);
    batch_norm_move_number(&flat[m->length_deviation], x->deviation);
}
