/* See ref_trees.h. */
#include "tests/ref/ref_trees.h"

#include "ops/expr/lang.h"

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

/* A node's layer: y of ops/nn/tree/tree_model.h, which a network of functions does not divide. */
static void combine(double *r, const struct tree_model *m, const double *w,
                    const struct tree_combine *c, const double *x)
{
    size_t d = m->config.d, h = m->config.hidden, in = c->arity * d;
    bool functions = m->config.points > 0;
    double hidden[MOST];
    memcpy(hidden, w + c->hidden_bias, h * sizeof *hidden);
    times(hidden, w + c->hidden, x, h, in);
    for (size_t i = 0; i < h; i++)
        hidden[i] = functions ? fmax(0, hidden[i]) : 1 / (1 + exp(-hidden[i]));
    memcpy(r, w + c->bias, d * sizeof *r);
    times(r, w + c->direct, x, d, in);
    times(r, w + c->through, hidden, d, h);
    double l = functions ? 1 : length(r, d);
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

/* vector (d); returns the sum of the cosines of the auto-encoder over inner nodes and root. */
static double tree(double *vector, const struct tree_model *m, const double *w,
                   const uint32_t *tokens, uint32_t n)
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
        double cosines = tree(v, m, w, s->tokens[i], s->length[i]);
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

/* ---- functions ---- */

struct function {
    double r[MOST], value, slope;
};
struct sums {
    double loss;
    size_t counted;
};

static double squash(double x)
{
    return fmax(-2, fmin(2, asinh(x) / 2));
}

static void add_error(struct sums *sums, double found, double known)
{
    double by = fabs(found - known);
    sums->loss += by < 0.1 ? by * by / 0.2 : by - 0.05;
    sums->counted++;
}

static void add_errors(struct sums *sums, const struct tree_model *m, const double *w,
                       const struct function *f)
{
    double found[TREE_VALUES], size = fabs(f->value), d = m->config.d;
    memcpy(found, w + m->values_bias, sizeof found);
    times(found, w + m->values, f->r, TREE_VALUES, (size_t)d);
    const double known[TREE_VALUES] = {squash(f->value),
                                       0,
                                       fmax(-2, fmin(2, log(size + 1e-9) / 2)),
                                       f->value / size,
                                       0,
                                       squash(f->slope),
                                       0,
                                       squash(f->slope / f->value),
                                       0};
    for (int i = 0; i < TREE_VALUES; i++)
        if (size > 1e-9 || (i != 3 && i != 4 && i < 7))
            add_error(sums, found[i], known[i]);
}

static void apply(struct function *out, uint16_t op, const struct function *a,
                  const struct function *b)
{
    double u = a->value, v = b->value, du = a->slope, dv = b->slope;
    out->value = op == X_ADD ? u + v : op == X_SUB ? u - v : op == X_MUL ? u * v : sin(u);
    out->slope = op == X_ADD   ? du + dv
                 : op == X_SUB ? du - dv
                 : op == X_MUL ? du * v + u * dv
                               : cos(u) * du;
}

static uint32_t function(struct function *f, struct sums *sums, const struct tree_model *m,
                         const double *w, const struct ref_functions *all, const uint32_t *tokens,
                         uint32_t point)
{
    const struct tree_combine *c = &m->combine[*tokens];
    uint16_t op = all->op[*tokens];
    size_t d = m->config.d;
    struct function kids[TREE_ARITY];
    double x[MOST];
    uint32_t n = 1;
    if (c->arity == 0) {
        memcpy(f->r, w + m->leaves + (*tokens * m->rows + point) * d, d * sizeof *f->r);
        f->value =
            op == X_NUM ? all->number[*tokens] : 0.19 * pow(24, (double)point / (m->rows - 1));
        f->slope = op != X_NUM;
    }
    for (uint32_t i = 0; i < c->arity; i++) {
        n += function(&kids[i], sums, m, w, all, tokens + n, point);
        memcpy(x + i * d, kids[i].r, d * sizeof *x);
    }
    if (c->arity) {
        combine(f->r, m, w, c, x);
        apply(f, op, &kids[0], &kids[c->arity - 1]);
    }
    add_errors(sums, m, w, f);
    return n;
}

double ref_functions_loss(const struct tree_model *m, const double *w,
                          const struct ref_functions *x)
{
    static double vector[MOST][MOST], worth[MOST][TREE_VALUES];
    struct sums sums = {0};
    double loss = 0;
    size_t d = m->config.d;
    for (size_t i = 0; i < x->set.n; i++) {
        for (uint32_t p = 0; p < m->rows; p++) {
            struct function f;
            function(&f, &sums, m, w, x, x->set.tokens[i], p);
            combine(vector[i] + p * d, m, w, &m->combine[m->tokens], f.r);
            worth[i][p] = squash(f.value);
        }
        double l = length(vector[i], m->rows * d);
        for (size_t k = 0; k < m->rows * d; k++)
            vector[i][k] /= l;
    }
    for (size_t i = 0; i < x->paired; i++) {
        double sum = 0, own = 0;
        for (size_t j = 0; j < x->set.n; j++) {
            double score = 0, apart = 0;
            for (size_t k = 0; k < m->rows * d; k++)
                score += vector[i][k] * vector[j][k] / x->temperature;
            for (uint32_t p = 0; j >= x->paired && p < m->rows; p++)
                apart = fmax(apart, fabs(worth[j][p] - worth[x->from[j]][p]));
            uint32_t class = j >= x->paired && apart <= 1e-3 ? x->class[x->from[j]] : x->class[j];
            if (j == (i ^ 1))
                own = score;
            if (j == (i ^ 1) || class != x->class[i])
                sum += exp(score);
        }
        loss += (log(sum) - own) / (double)x->paired;
    }
    return loss + x->values * sums.loss / (double)sums.counted;
}
