/* See ref_trees.h. */
#include "tests/ref/ref_trees.h"

#include <math.h>
#include <string.h>

enum { MOST = 256 };

static double length(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* y (out) += W (out, in) x */
static void times(double *y, const double *w, const double *x, size_t out, size_t in)
{
    for (size_t i = 0; i < out; i++)
        for (size_t k = 0; k < in; k++)
            y[i] += w[i * in + k] * x[k];
}

static void combine(double *r, const struct tree_model *m, const double *w,
                    const struct tree_combine *c, const double *x)
{
    size_t d = m->config.d, h = m->config.hidden, in = c->arity * d;
    double hidden[MOST];
    memcpy(hidden, w + c->hidden_bias, h * sizeof *hidden);
    times(hidden, w + c->hidden, x, h, in);
    for (size_t i = 0; i < h; i++)
        hidden[i] = 1 / (1 + exp(-hidden[i]));
    memcpy(r, w + c->bias, d * sizeof *r);
    times(r, w + c->direct, x, d, in);
    times(r, w + c->through, hidden, d, h);
    double l = length(r, d);
    for (size_t i = 0; i < d; i++)
        r[i] /= l;
}

static double codes(const struct tree_model *m, const double *w, const struct tree_combine *c,
                    const double *x, const double *r)
{
    size_t d = m->config.d, in = c->arity * d, from = in + d;
    double now[MOST], next[MOST], again[MOST], sum = 0;
    memcpy(now, x, in * sizeof *now);
    memcpy(now + in, r, d * sizeof *now);
    for (size_t i = 0; i <= m->layers; i++) {
        size_t to = i < m->layers ? m->width[i] : in;
        memset(next, 0, sizeof next);
        times(next, w + (i ? m->layer[i - 1] : c->encoder), now, to, from);
        for (size_t k = 0; k < to; k++)
            now[k] = tanh(next[k]);
        from = to;
    }
    double by = length(x, in) / length(now, in);
    for (size_t k = 0; k < in; k++) {
        now[k] *= by;
        sum += now[k] * x[k];
    }
    combine(again, m, w, c, now);
    for (size_t k = 0; k < d; k++)
        sum += again[k] * r[k];
    return sum;
}

/* Tokens read. */
static uint32_t node(double *r, double *cosines, const struct tree_model *m, const double *w,
                     const uint32_t *tokens)
{
    size_t d = m->config.d;
    const struct tree_combine *c = &m->combine[*tokens];
    double x[MOST];
    uint32_t n = 1;
    if (c->arity == 0) {
        const double *leaf = w + m->leaves + *tokens * d;
        for (size_t k = 0; k < d; k++)
            r[k] = leaf[k] / length(leaf, d);
        return 1;
    }
    for (uint32_t i = 0; i < c->arity; i++)
        n += node(x + i * d, cosines, m, w, tokens + n);
    combine(r, m, w, c, x);
    *cosines += codes(m, w, c, x, r);
    return n;
}

double ref_tree(double *vector, const struct tree_model *m, const double *w, const uint32_t *tokens,
                uint32_t n)
{
    double x[MOST], cosines = 0;
    const struct tree_combine *root = &m->combine[m->tokens];
    if (node(x, &cosines, m, w, tokens) != n)
        return NAN;
    combine(vector, m, w, root, x);
    return cosines + codes(m, w, root, x, vector);
}

double ref_tree_loss(const struct tree_model *m, const double *w, const struct tree_set *s,
                     const uint32_t *class, const float *prior, double margin, double weight)
{
    double loss = 0;
    size_t d = m->config.d;
    for (size_t i = 0; i < s->n; i++) {
        double v[MOST], own = 0, other = -INFINITY;
        double cosines = ref_tree(v, m, w, s->tokens[i], s->length[i]);
        for (uint32_t c = 0; c < m->config.classes; c++) {
            double score = (double)prior[c];
            for (size_t k = 0; k < d; k++)
                score += v[k] * w[m->classes + c * d + k];
            if (c == class[i])
                own = score;
            else
                other = fmax(other, score);
        }
        loss += fmax(0, margin + other - own) - weight * cosines / (s->length[i] + 2);
    }
    return loss / (double)s->n;
}
