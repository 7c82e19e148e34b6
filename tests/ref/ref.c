/* The slow truth; see ref.h. */
#include "tests/ref/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_matmul(double *c, const double *a, const double *b, size_t m, size_t n, size_t k, bool ta,
                bool tb, double alpha, bool accumulate)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double s = 0;
            for (size_t l = 0; l < k; l++)
                s += a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
            c[i * n + j] = alpha * s + (accumulate ? c[i * n + j] : 0);
        }
}

double ref_activation(double x, enum gpu_activation kind)
{
    switch (kind) {
    case GPU_RELU: return x > 0 ? x : 0;
    case GPU_GELU: return x * 0.5 * erfc(-x / sqrt(2));
    }
    return NAN;
}

void ref_norm(double *y, const double *x, const double *gamma, const double *beta, size_t rows,
              size_t cols)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
        double mean = 0, variance = 0;
        for (size_t c = 0; c < cols; c++)
            mean += x[c] / (double)cols;
        for (size_t c = 0; c < cols; c++)
            variance += (x[c] - mean) * (x[c] - mean) / (double)cols;
        for (size_t c = 0; c < cols; c++)
            y[c] = (x[c] - mean) / sqrt(variance + 1e-5) * gamma[c] + beta[c];
    }
}

/* One query of one head to its first `n` keys. */
static void attend_row(double *out, const double *q, const double *k, const double *v, size_t n,
                       const struct gpu_attention *at)
{
    size_t ld = at->kv_ld;
    double *p = calloc(n, sizeof *p), most = -INFINITY, sum = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t c = 0; c < at->size; c++)
            p[j] += (double)at->scale * q[c] * k[j * ld + c];
        most = fmax(most, p[j]);
    }
    for (size_t j = 0; j < n; j++)
        sum += p[j] = exp(p[j] - most);
    for (size_t c = 0; c < at->size; c++) {
        out[c] = 0;
        for (size_t j = 0; j < n; j++)
            out[c] += p[j] / sum * v[j * ld + c];
    }
    free(p);
}

void ref_attention(double *out, const double *q, const double *k, const double *v,
                   const struct gpu_attention *at)
{
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++)
        for (size_t t = at->first[s]; t < at->end[s]; t++)
            for (size_t h = 0; h < at->heads; h++) {
                size_t column = h * at->size, key = at->key_first[s] * at->kv_ld + column;
                size_t keys = at->key_end[s] - at->key_first[s];
                attend_row(out + t * d + column, q + t * at->q_ld + column, k + key, v + key,
                           at->causal ? keys - (at->end[s] - 1 - t) : keys, at);
            }
}

void ref_embed(double *x, const double *table, const double *positions, const uint32_t *token,
               const uint32_t *offset, size_t sequences, size_t cols, double scale)
{
    for (size_t s = 0; s < sequences; s++)
        for (size_t t = offset[s]; t < offset[s + 1]; t++)
            for (size_t c = 0; c < cols; c++)
                x[t * cols + c] =
                    table[token[t] * cols + c] * scale + positions[(t - offset[s]) * cols + c];
}

void ref_pool(double *y, const double *x, const uint32_t *row, const uint32_t *offset,
              size_t segments, size_t cols, enum gpu_pooling kind)
{
    for (size_t s = 0; s < segments; s++)
        for (size_t c = 0; c < cols; c++) {
            double most = -INFINITY, sum = 0;
            for (size_t j = offset[s]; j < offset[s + 1]; j++) {
                most = fmax(most, x[row[j] * cols + c]);
                sum += x[row[j] * cols + c];
            }
            y[s * cols + c] = kind == GPU_MAX ? most : sum / (offset[s + 1] - offset[s]);
        }
}

void ref_normalize(double *y, const double *x, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t c = 0; c < cols; c++)
            sum += x[r * cols + c] * x[r * cols + c];
        for (size_t c = 0; c < cols; c++)
            y[r * cols + c] = x[r * cols + c] / fmax(sqrt(sum), 1e-12);
    }
}

double ref_cross_entropy(const double *logits, size_t row, size_t cols, uint32_t target,
                         const uint32_t *group, bool self, double smoothing)
{
    double most = -INFINITY, sum = 0, all = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t c = 0; c < cols; c++) {
            if (c != target && ((self && c == row) || (group && group[c] == group[row])))
                continue;
            if (pass == 0)
                most = fmax(most, logits[c]);
            else
                sum += exp(logits[c] - most);
        }
    for (size_t c = 0; c < cols; c++)
        all += logits[c];
    return log(sum) + most - (1 - smoothing) * logits[target] - smoothing * all / (double)cols;
}

void ref_adamw(double *p, double *m, double *v, double g, double lr, double beta1, double beta2,
               double eps, double weight_decay, unsigned step)
{
    *p -= lr * weight_decay * *p;
    *m = beta1 * *m + (1 - beta1) * g;
    *v = beta2 * *v + (1 - beta2) * g * g;
    *p -= lr * (*m / (1 - pow(beta1, step))) / (sqrt(*v / (1 - pow(beta2, step))) + eps);
}

/* y (t, out) [+]= x (t, in) w^T + b */
static void linear(double *y, const double *x, const double *w, const double *b, size_t t,
                   size_t in, size_t out, bool accumulate)
{
    ref_matmul(y, x, w, t, out, in, false, true, 1, accumulate);
    for (size_t i = 0; b && i < t * out; i++)
        y[i] += b[i % out];
}

static const double *at(const double *w, size_t place)
{
    return place == NN_ABSENT ? NULL : w + place;
}

static void encode_layer(double *x, const struct nn_config *c, const struct nn_layer *l,
                         const double *w, const struct nn_sequences *s)
{
    size_t n = s->offset[s->n], d = c->d_model, ff = c->d_ff, size = d / c->heads;
    double *y = calloc(n * d, sizeof *y), *wide = calloc(n * (3 * d + ff), sizeof *wide);
    ref_norm(y, x, w + l->norm1_weight, w + l->norm1_bias, n, d);
    linear(wide, y, w + l->self.in_weight, at(w, l->self.in_bias), n, d, 3 * d, false);
    ref_attention(y, wide, wide + d, wide + 2 * d,
                  &(struct gpu_attention){.sequences = s->n,
                                          .heads = c->heads,
                                          .size = size,
                                          .first = s->offset,
                                          .end = s->offset + 1,
                                          .key_first = s->offset,
                                          .key_end = s->offset + 1,
                                          .q_ld = 3 * d,
                                          .kv_ld = 3 * d,
                                          .scale = (float)(1 / sqrt((double)size))});
    linear(x, y, w + l->self.out_weight, at(w, l->self.out_bias), n, d, d, true);
    ref_norm(y, x, w + l->norm2_weight, w + l->norm2_bias, n, d);
    linear(wide, y, w + l->linear1_weight, w + l->linear1_bias, n, d, ff, false);
    for (size_t i = 0; i < n * ff; i++)
        wide[i] = ref_activation(wide[i], c->activation);
    linear(x, wide, w + l->linear2_weight, w + l->linear2_bias, n, ff, d, true);
    free(y);
    free(wide);
}

/* The tokens that are pooled: said here once more, in other words than in ops/nn/tape.c. */
static void pool_tokens(double *pooled, const double *x, const struct nn_config *c,
                        const struct nn_sequences *s)
{
    uint32_t *row = calloc(s->offset[s->n], sizeof *row), *offset = calloc(s->n + 1, sizeof *row);
    for (size_t i = 0, k = 0; i < s->n; i++) {
        bool plain = false;
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++)
            plain |= s->tokens[t] > 2;
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++)
            if (!plain || s->tokens[t] > 2)
                row[k++] = t;
        if (c->pooling == NN_POOL_FIRST)
            k = offset[i] + 1;
        offset[i + 1] = (uint32_t)k;
    }
    ref_pool(pooled, x, row, offset, s->n, c->d_model,
             c->pooling == NN_POOL_MAX ? GPU_MAX : GPU_MEAN);
    free(row);
    free(offset);
}

void ref_encoder(double *pooled, const struct nn_model *m, const double *w,
                 const struct nn_sequences *s)
{
    const struct nn_config *c = &m->config;
    size_t n = s->offset[s->n], d = c->d_model, table = (size_t)c->max_length * d;
    double *x = calloc(n * d, sizeof *x), *y = calloc(n * d, sizeof *y);
    double *position = calloc(table, sizeof *position);
    for (size_t i = 0; i < table; i++) {
        size_t t = i / d, k = i % d;
        double angle = (double)t / pow(10000, (double)(k / 2 * 2) / (double)d);
        position[i] = m->positions != NN_ABSENT ? w[m->positions + i]
                      : k % 2                   ? cos(angle)
                                                : sin(angle);
    }
    ref_embed(x, w + m->embedding, position, s->tokens, s->offset, s->n, d, sqrt((double)d));
    for (uint32_t i = 0; i < c->layers; i++)
        encode_layer(x, c, &m->layers[i], w, s);
    ref_norm(y, x, w + m->norm_weight, w + m->norm_bias, n, d);
    pool_tokens(pooled, y, c, s);
    free(x);
    free(y);
    free(position);
}

double ref_info_nce(const double *vectors, size_t n, size_t d, const uint32_t *group,
                    double temperature)
{
    double *u = calloc(n * d, sizeof *u), *scores = calloc(n * n, sizeof *scores), loss = 0;
    ref_normalize(u, vectors, n, d);
    ref_matmul(scores, u, u, n, n, d, false, true, 1 / temperature, false);
    for (size_t i = 0; i < n; i++)
        loss +=
            ref_cross_entropy(scores + i * n, i, n, (uint32_t)((i + n / 2) % n), group, true, 0) /
            (double)n;
    free(u);
    free(scores);
    return loss;
}

double ref_derivative(double (*f)(void *arg, const double *x), void *arg, double *x, size_t i)
{
    const double h = 1e-5;
    double old = x[i], up, down;
    x[i] = old + h;
    up = f(arg, x);
    x[i] = old - h;
    down = f(arg, x);
    x[i] = old;
    return (up - down) / (2 * h);
}
