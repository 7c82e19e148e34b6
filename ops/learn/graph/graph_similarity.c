/* See graph_similarity.h. There are only some thousand products of short vectors, so the host
 * computes them, in double. */
#include "ops/learn/graph/graph_similarity.h"

#include "ops/nn/batch_norm.h"

#include <math.h>
#include <string.h>

enum { BINS = 64 };

struct pair {
    uint32_t x, y; /* vectors */
};

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

/* ---- losses: replace the similarities of n positive and m negative pairs by gradients ---- */

/* m = n */
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

/* Returns the lower of the two bins around s; *part: the fraction of the way to the next. */
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

/* Returns the probability that a negative pair is at least as similar as a positive one. */
static double histogram(double *positive, size_t n, double *negative, size_t m)
{
    double p[BINS] = {0}, q[BINS] = {0}, dp[BINS], dq[BINS], up_to = 0, from = 0, loss = 0;
    count(p, positive, n);
    count(q, negative, m);
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
    uncount(negative, dq, m);
    return loss;
}

/* ---- gradients of vectors ---- */

/* Computes dv (graphs, d), the gradient of the scaled vectors v, from those of s = v . v' of each
 * pair. */
static void pairs_back(double *dv, const float *vectors, double scale, const double *ds,
                       const struct pair *pairs, size_t n, size_t d)
{
    for (size_t i = 0; i < n; i++) {
        const float *x = vectors + pairs[i].x * d, *y = vectors + pairs[i].y * d;
        double *dx = dv + pairs[i].x * d, *dy = dv + pairs[i].y * d, by = scale * ds[i];
        for (size_t k = 0; by != 0 && k < d; k++) {
            dx[k] += by * (double)y[k];
            dy[k] += by * (double)x[k];
        }
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

/* Pairs anchors with their positives, then with negatives: their own, or for histograms all graphs
 * of other papers in the batch. */
static struct pair *list_pairs(size_t *negatives, const struct graph_batch *b,
                               enum graph_similarity kind, struct arena *a)
{
    size_t n = b->triplets, m = 0;
    bool all = kind == GRAPH_HISTOGRAM && b->paper;
    struct pair *out = arena_array(a, struct pair, n + (all ? 2 * n * n : n));
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct pair){i, (uint32_t)n + i};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = (uint32_t)(all ? n : 2 * n + i); k < (all ? 3 * n : 2 * n + i + 1); k++)
            if (!all || (b->paper[i] != b->paper[k] && k != n + i))
                out[n + m++] = (struct pair){i, k};
    *negatives = m;
    return out;
}

struct graph_score graph_similarity_loss(float *vectors, const struct graph_batch *b, size_t d,
                                         enum graph_similarity kind, double margin,
                                         const struct graph_lengths *lengths, bool gradient,
                                         struct arena *a)
{
    double c = lengths->mean + lengths->deviation, scale = c > 0 ? 1 / c : 0;
    size_t n = b->triplets, m;
    struct pair *pairs = list_pairs(&m, b, kind, a);
    double *s = arena_array(a, double, n + m);
    const float *q = vectors + 2 * n * d;
    struct graph_score r = {0};
    for (size_t i = 0; i < n + m; i++)
        s[i] = scale * scale * dot(vectors + pairs[i].x * d, vectors + pairs[i].y * d, d);
    for (size_t i = 0; i < n; i++) {
        double negative = scale * scale * dot(vectors + i * d, q + i * d, d);
        r.accuracy += (s[i] > negative ? 1 : s[i] == negative ? 0.5 : 0) / (double)n;
    }
    switch (kind) {
    case GRAPH_NO_SIMILARITY: memset(s, 0, (n + m) * sizeof *s); break;
    case GRAPH_TRIPLET: r.loss = triplet(s, s + n, n, margin); break;
    case GRAPH_HISTOGRAM: r.loss = histogram(s, n, s + n, m); break;
    }
    if (gradient) {
        double *dv = arena_array(a, double, 3 * n * d);
        pairs_back(dv, vectors, scale, s, pairs, n + m, d);
        scale_back(vectors, dv, 3 * n, d, scale, lengths);
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
