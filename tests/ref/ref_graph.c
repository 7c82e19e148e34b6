/* See ref_graph.h. */
#include "tests/ref/ref_graph.h"

#include "tests/ref/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* to (n, d) = from, each node's neighbours and itself added up; negative sums become 0. */
static void aggregate(double *to, const double *from, const struct graph_set *s, size_t d)
{
    memcpy(to, from, s->first[s->graphs] * d * sizeof *to);
    for (size_t g = 0; g < s->graphs; g++)
        for (size_t i = s->first[g]; i < s->first[g + 1]; i++)
            for (size_t c = 0; c < d && s->vertices[i].parent; c++) {
                size_t up = s->first[g] + s->vertices[i].parent - 1;
                to[i * d + c] += from[up * d + c];
                to[up * d + c] += from[i * d + c];
            }
    for (size_t i = 0; i < s->first[s->graphs] * d; i++)
        to[i] = fmax(0, to[i]);
}

static void first_layer(double *y, const struct graph_model *m, const double *w,
                        const struct graph_set *s)
{
    size_t d = m->config.d;
    const double *rows = w + m->first;
    for (size_t i = 0; i < s->first[s->graphs]; i++) {
        const struct graph_vertex *v = &s->vertices[i];
        size_t place = v->position < m->config.positions ? v->position : m->config.positions - 1;
        for (size_t c = 0; c < d; c++) {
            double angle = (double)place / pow(10000, (double)(c / 2 * 2) / (double)d);
            double x =
                rows[GRAPH_FEATURES * d + c] + w[m->alpha] * (c % 2 ? cos(angle) : sin(angle));
            if (!v->hidden) {
                x += rows[v->tag * d + c];
                x += v->attribute ? rows[(31u + v->attribute) * d + c] : 0;
                x += v->character ? rows[(63u + v->character) * d + c] : 0;
            }
            y[i * d + c] = x;
        }
    }
}

static void batch_norm(double *h, size_t n, size_t d, const double *mean, const double *variance)
{
    for (size_t c = 0; c < d; c++) {
        double mu = mean ? mean[c] : 0, var = mean ? variance[c] : 0;
        for (size_t i = 0; i < n && !mean; i++)
            mu += h[i * d + c] / (double)n;
        for (size_t i = 0; i < n && !mean; i++)
            var += (h[i * d + c] - mu) * (h[i * d + c] - mu) / (double)n;
        for (size_t i = 0; i < n; i++)
            h[i * d + c] = (h[i * d + c] - mu) / sqrt(var + 1e-5);
    }
}

/* y (n, to) = x (n, from) W^T + b */
static void linear(double *y, const double *x, const double *w, struct graph_linear at, size_t n,
                   size_t from, size_t to)
{
    ref_linear(y, x, w + at.weight, w + at.bias, n, from, to, false);
}

/* h (nodes, d): states of the last layer; y: as large. */
static void states(double *h, double *y, const struct graph_model *m, const double *w,
                   const struct graph_set *s, bool training)
{
    size_t n = s->first[s->graphs], d = m->config.d;
    first_layer(y, m, w, s);
    aggregate(h, y, s, d);
    for (size_t l = 0; l < m->config.layers; l++) {
        if (l % 2 == 0)
            batch_norm(h, n, d, training ? NULL : w + m->mean[l / 2], w + m->variance[l / 2]);
        linear(y, h, w, m->layers[l], n, d, d);
        aggregate(h, y, s, d);
    }
}

/* Divided by mean and deviation of their lengths. */
static void normalize(double *v, const struct graph_model *m, const double *w, size_t n,
                      bool training)
{
    size_t d = m->config.out;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double length = 0;
        for (size_t c = 0; c < d; c++)
            length += v[i * d + c] * v[i * d + c];
        mean += sqrt(length) / (double)n;
        squares += length;
    }
    double deviation = sqrt((squares - (double)n * mean * mean) / (double)(n - 1));
    double by = training ? mean + deviation : w[m->length_mean] + w[m->length_deviation];
    for (size_t i = 0; i < n * d; i++)
        v[i] /= by;
}

static double product(const double *v, size_t i, size_t k, size_t d)
{
    double s = 0;
    for (size_t c = 0; c < d; c++)
        s += v[i * d + c] * v[k * d + c];
    return s;
}

static double similarity(const double *v, const struct graph_set *s, size_t d,
                         enum graph_similarity kind, double margin)
{
    size_t batch = s->graphs / 3, n = 0;
    double *positive = calloc(batch + 2 * batch * batch, sizeof *positive);
    double *negative = positive + batch, loss = 0;
    for (size_t i = 0; i < batch; i++) {
        positive[i] = product(v, i, batch + i, d);
        if (kind == GRAPH_TRIPLET)
            loss += fmax(0, margin - positive[i] + product(v, i, 2 * batch + i, d)) / (double)batch;
        positive[i] = fmin(1, fmax(-1, positive[i]));
        for (size_t k = batch; k < 3 * batch; k++)
            if (s->paper ? s->paper[i] != s->paper[k] && k != batch + i : k == 2 * batch + i)
                negative[n++] = fmin(1, fmax(-1, product(v, i, k, d)));
    }
    if (kind == GRAPH_HISTOGRAM)
        loss = ref_histogram(positive, batch, negative, n);
    free(positive);
    return loss;
}

/* Of hidden nodes, the mean over all heads. */
static double masking(const double *h, const struct graph_model *m, const double *w,
                      const struct graph_set *s)
{
    double logits[256], sum = 0;
    size_t hidden = 0, d = m->config.d;
    for (size_t i = 0; i < s->first[s->graphs]; i++) {
        const struct graph_vertex *v = &s->vertices[i];
        const uint32_t label[] = {v->tag, v->attribute, v->character};
        hidden += v->hidden;
        for (size_t k = 0; k < GRAPH_HEADS && v->hidden; k++) {
            linear(logits, h + i * d, w, m->heads[k], 1, d, graph_head_classes[k]);
            sum += ref_cross_entropy(logits, 0, graph_head_classes[k], label[k], NULL, false, 0);
        }
    }
    return hidden ? sum / (double)(GRAPH_HEADS * hidden) : 0;
}

double ref_graph_loss(const struct graph_model *m, const double *w, const struct graph_set *s,
                      enum graph_similarity kind, double margin, bool training)
{
    size_t n = s->first[s->graphs], d = m->config.d, out = m->config.out;
    double *h = calloc(2 * n * d, sizeof *h), *y = h + n * d;
    double *pooled = calloc(s->graphs * (d + out), sizeof *pooled), *v = pooled + s->graphs * d;
    states(h, y, m, w, s, training);
    for (size_t g = 0; g < s->graphs; g++)
        for (size_t i = s->first[g]; i < s->first[g + 1]; i++)
            for (size_t c = 0; c < d; c++)
                pooled[g * d + c] += h[i * d + c] / (double)(s->first[g + 1] - s->first[g]);
    linear(v, pooled, w, m->out, s->graphs, d, out);
    normalize(v, m, w, s->graphs, training);
    double loss = similarity(v, s, out, kind, margin) + masking(h, m, w, s);
    free(h);
    free(pooled);
    return loss;
}
