/* The slow truth; see ref.h. */
#include "tests/ref/ref.h"

#include "base/rng.h"

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
    case GPU_TANH: return tanh(x);
    case GPU_SIGMOID: return 1 / (1 + exp(-x));
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

double ref_kept(const struct gpu_dropout *d, uint64_t number)
{
    uint64_t keys = rng_mix(d->key ^ rng_mix(number >> 32));
    uint32_t x = (uint32_t)number ^ (uint32_t)keys;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15 ^ (uint32_t)(keys >> 32)) * 0x846ca68bu;
    x ^= x >> 16;
    return x >= (uint32_t)((double)d->rate * 0x1p32) ? 1 / (1 - (double)d->rate) : 0;
}

/* One query of one head to its first `n` keys. `number`: of its first probability. */
static void attend_row(double *out, const double *q, const double *k, const double *v, size_t n,
                       const struct gpu_attention *at, uint64_t number)
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
    for (size_t j = 0; j < n && at->drop.rate > 0; j++)
        p[j] *= ref_kept(&at->drop, number + ((uint64_t)j << 20));
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
                           at->causal ? keys - (at->end[s] - 1 - t) : keys, at,
                           (((at->drop.first + at->first[s]) * at->heads + h) << 40) + t -
                               at->first[s]);
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
            y[s * cols + c] = kind == GPU_MAX   ? most
                              : kind == GPU_SUM ? sum
                                                : sum / (offset[s + 1] - offset[s]);
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

void ref_rmsprop(double *p, double *m, double *v, double g, double lr, double decay,
                 double momentum)
{
    double place = *p - momentum * *m; /* without the look ahead */
    *v += (1 - decay) * (g * g - *v);
    *m = momentum * *m - lr * g / sqrt(1e-10 + *v);
    *p = place + *m + momentum * *m;
}

void ref_adamw(double *p, double *m, double *v, double g, double lr, double beta1, double beta2,
               double eps, double weight_decay, unsigned step)
{
    *p -= lr * weight_decay * *p;
    *m = beta1 * *m + (1 - beta1) * g;
    *v = beta2 * *v + (1 - beta2) * g * g;
    *p -= lr * (*m / (1 - pow(beta1, step))) / (sqrt(*v / (1 - pow(beta2, step))) + eps);
}

void ref_linear(double *y, const double *x, const double *w, const double *b, size_t t, size_t in,
                size_t out, bool accumulate)
{
    ref_matmul(y, x, w, t, out, in, false, true, 1, accumulate);
    for (size_t i = 0; b && i < t * out; i++)
        y[i] += b[i % out];
}

static const double *at(const double *w, size_t place)
{
    return place == NN_ABSENT ? NULL : w + place;
}

/* x (t, d) += out_proj(attention of norm(x) to `memory`, or to norm(x) itself if NULL) */
static void attend(double *x, const double *memory, const struct nn_config *c,
                   const struct nn_projections *l, const double *gamma, const double *beta,
                   const double *w, const struct nn_sequences *s, const uint32_t *key_offset,
                   bool causal)
{
    size_t n = s->offset[s->n], keys = key_offset[s->n], d = c->d_model, size = d / c->heads;
    double *y = calloc(n * d, sizeof *y), *q = calloc(n * d, sizeof *q);
    double *kv = calloc(keys * 2 * d, sizeof *kv);
    const double *bias = at(w, l->in_bias);
    ref_norm(y, x, gamma, beta, n, d);
    ref_linear(q, y, w + l->in_weight, bias, n, d, d, false);
    ref_linear(kv, memory ? memory : y, w + l->in_weight + d * d, bias ? bias + d : NULL, keys, d,
               2 * d, false);
    ref_attention(y, q, kv, kv + d,
                  &(struct gpu_attention){.sequences = s->n,
                                          .heads = c->heads,
                                          .size = size,
                                          .first = s->offset,
                                          .end = s->offset + 1,
                                          .key_first = key_offset,
                                          .key_end = key_offset + 1,
                                          .q_ld = d,
                                          .kv_ld = 2 * d,
                                          .scale = (float)(1 / sqrt((double)size)),
                                          .causal = causal});
    ref_linear(x, y, w + l->out_weight, at(w, l->out_bias), n, d, d, true);
    free(y);
    free(q);
    free(kv);
}

static void feed_forward(double *x, const struct nn_config *c, const struct nn_layer *l,
                         const double *gamma, const double *beta, const double *w, size_t n)
{
    size_t d = c->d_model, ff = c->d_ff;
    double *y = calloc(n * d, sizeof *y), *h = calloc(n * ff, sizeof *h);
    ref_norm(y, x, gamma, beta, n, d);
    ref_linear(h, y, w + l->linear1_weight, w + l->linear1_bias, n, d, ff, false);
    for (size_t i = 0; i < n * ff; i++)
        h[i] = ref_activation(h[i], c->activation);
    ref_linear(x, h, w + l->linear2_weight, w + l->linear2_bias, n, ff, d, true);
    free(y);
    free(h);
}

/* The tokens that are pooled: said here once more, in other words than in ops/nn/transformer/tape.c. */
static bool is_pooled(const struct nn_sequences *s, size_t i, uint32_t token)
{
    bool all = true;
    for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++)
        all &= s->tokens[t] <= 2;
    return all || s->tokens[token] > 2;
}

static void pool_tokens(double *pooled, const double *x, const struct nn_config *c,
                        const struct nn_sequences *s)
{
    uint32_t *row = calloc(s->offset[s->n], sizeof *row), *offset = calloc(s->n + 1, sizeof *row);
    for (size_t i = 0, k = 0; i < s->n; i++) {
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++)
            if (is_pooled(s, i, t))
                row[k++] = t;
        offset[i + 1] = (uint32_t)k;
    }
    ref_pool(pooled, x, row, offset, s->n, c->d_model, c->pooling);
    free(row);
    free(offset);
}

static void embed_tokens(double *x, const struct nn_model *m, const double *w,
                         const struct nn_sequences *s)
{
    size_t d = m->config.d_model, table = m->config.max_length * d;
    double *position = calloc(table, sizeof *position);
    for (size_t i = 0; i < table; i++) {
        size_t t = i / d, k = i % d;
        double angle = (double)t / pow(10000, (double)(k / 2 * 2) / (double)d);
        position[i] = m->positions != NN_ABSENT ? w[m->positions + i]
                      : k % 2                   ? cos(angle)
                                                : sin(angle);
    }
    ref_embed(x, w + m->embedding, position, s->tokens, s->offset, s->n, d, sqrt((double)d));
    free(position);
}

/* states (tokens, d) */
static void encode(double *states, const struct nn_model *m, const double *w,
                   const struct nn_sequences *s)
{
    const struct nn_config *c = &m->config;
    size_t n = s->offset[s->n], d = c->d_model;
    double *x = calloc(n * d, sizeof *x);
    embed_tokens(x, m, w, s);
    for (uint32_t i = 0; i < c->layers; i++) {
        const struct nn_layer *l = &m->layers[i];
        attend(x, NULL, c, &l->self, w + l->norm1.weight, w + l->norm1.bias, w, s, s->offset,
               false);
        feed_forward(x, c, l, w + l->norm2.weight, w + l->norm2.bias, w, n);
    }
    ref_norm(states, x, w + m->norm.weight, w + m->norm.bias, n, d);
    free(x);
}

void ref_encoder(double *pooled, const struct nn_model *m, const double *w,
                 const struct nn_sequences *s)
{
    double *states = calloc(s->offset[s->n] * m->config.d_model, sizeof *states);
    encode(states, m, w, s);
    pool_tokens(pooled, states, &m->config, s);
    free(states);
}

/* logits (tokens, vocabulary) of targets as they are fed. */
static void decode(double *logits, const struct nn_model *m, const double *w, const double *memory,
                   const uint32_t *key_offset, const struct nn_sequences *fed)
{
    const struct nn_config *c = &m->config;
    size_t n = fed->offset[fed->n], d = c->d_model;
    double *x = calloc(n * d, sizeof *x), *y = calloc(n * d, sizeof *y);
    embed_tokens(x, m, w, fed);
    for (uint32_t i = 0; i < c->decoder_layers; i++) {
        const struct nn_layer *l = &m->decoder[i];
        attend(x, NULL, c, &l->self, w + l->norm1.weight, w + l->norm1.bias, w, fed, fed->offset,
               true);
        attend(x, memory, c, &l->cross, w + l->norm2.weight, w + l->norm2.bias, w, fed, key_offset,
               false);
        feed_forward(x, c, l, w + l->norm3.weight, w + l->norm3.bias, w, n);
    }
    ref_norm(y, x, w + m->decoder_norm.weight, w + m->decoder_norm.bias, n, d);
    ref_linear(logits, y, w + m->output_weight, w + m->output_bias, n, d, c->vocabulary, false);
    free(x);
    free(y);
}

double ref_seq2seq(const struct nn_model *m, const double *w, const struct nn_sequences *inputs,
                   const struct nn_sequences *targets, double smoothing)
{
    size_t d = m->config.d_model, v = m->config.vocabulary;
    size_t n = targets->offset[targets->n] + targets->n;
    double *states = calloc(inputs->offset[inputs->n] * d, sizeof *states), loss = 0;
    double *pooled = calloc(inputs->n * d, sizeof *pooled);
    uint32_t *each = calloc(inputs->n + 1, sizeof *each);
    double *logits = calloc(n * v, sizeof *logits);
    uint32_t *fed = calloc(n, sizeof *fed), *label = calloc(n, sizeof *label);
    uint32_t *offset = calloc(targets->n + 1, sizeof *offset);
    for (size_t i = 0; i < targets->n; i++) {
        const uint32_t *from = targets->tokens + targets->offset[i];
        size_t length = targets->offset[i + 1] - targets->offset[i];
        fed[offset[i]] = 1; /* start */
        memcpy(fed + offset[i] + 1, from, length * sizeof *fed);
        memcpy(label + offset[i], from, length * sizeof *fed);
        label[offset[i] + length] = 2; /* end */
        offset[i + 1] = offset[i] + (uint32_t)length + 1;
    }
    for (size_t i = 0; i <= inputs->n; i++)
        each[i] = (uint32_t)i;
    encode(states, m, w, inputs);
    pool_tokens(pooled, states, &m->config, inputs);
    bool vector = m->config.memory == NN_MEMORY_VECTOR;
    decode(logits, m, w, vector ? pooled : states, vector ? each : inputs->offset,
           &(struct nn_sequences){fed, offset, targets->n});
    for (size_t i = 0; i < n; i++)
        loss += ref_cross_entropy(logits + i * v, i, v, label[i], NULL, false, smoothing);
    free(states);
    free(pooled);
    free(each);
    free(logits);
    free(fed);
    free(label);
    free(offset);
    return loss / (double)n;
}

static double cosine(const double *x, const double *y, size_t d)
{
    double u[2], xx = 0, yy = 0;
    ref_matmul(&u[0], x, y, 1, 1, d, false, true, 1, false);
    for (size_t i = 0; i < d; i++) {
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    return u[0] / sqrt(xx * yy);
}

double ref_own_negatives(const double *vectors, size_t anchors, size_t negatives, size_t d,
                         double temperature)
{
    double *score = calloc(1 + negatives, sizeof *score), loss = 0;
    for (size_t i = 0; i < anchors; i++) {
        for (size_t j = 0; j <= negatives; j++) {
            size_t other = j ? 2 * anchors + i * negatives + j - 1 : anchors + i;
            score[j] = cosine(vectors + i * d, vectors + other * d, d) / temperature;
        }
        loss += ref_cross_entropy(score, 0, 1 + negatives, 0, NULL, false, 0);
    }
    free(score);
    return loss / (double)anchors;
}

static double hinge(double x, bool squared)
{
    return squared ? pow(fmax(0, x), 2) : fmax(0, x);
}

double ref_triplets(const double *vectors, size_t anchors, size_t negatives, size_t d,
                    double margin, bool squared, bool swap)
{
    double loss = 0;
    for (size_t i = 0; i < anchors; i++)
        for (size_t j = 0; j < negatives; j++) {
            const double *anchor = vectors + i * d, *partner = vectors + (anchors + i) * d;
            const double *negative = vectors + (2 * anchors + i * negatives + j) * d;
            double s = cosine(anchor, negative, d);
            if (swap)
                s = fmax(s, cosine(partner, negative, d));
            loss += hinge(margin - cosine(anchor, partner, d) + s, squared);
        }
    return loss / (double)(anchors * negatives);
}

double ref_siamese(const double *vectors, size_t anchors, size_t negatives, size_t d, double margin,
                   bool squared, bool euclidean)
{
    double loss = 0;
    for (size_t i = 0; i < anchors; i++)
        for (size_t j = 0; j <= negatives; j++) {
            size_t other = j ? 2 * anchors + i * negatives + j - 1 : anchors + i;
            double s = cosine(vectors + i * d, vectors + other * d, d), away = sqrt(2 - 2 * s);
            if (euclidean)
                loss += j ? hinge(margin - away, true) : away * away;
            else
                loss += hinge(j ? margin + s : margin - s, squared);
        }
    return loss / (double)(anchors * (1 + negatives));
}

double ref_histogram(const double *positive, size_t m, const double *negative, size_t n)
{
    const double width = 2.0 / (GPU_BINS - 1);
    double loss = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t r = 0; r < GPU_BINS; r++)
                for (size_t s = 0; s <= r; s++)
                    loss += fmax(0, 1 - fabs(negative[i] - (-1 + (double)r * width)) / width) *
                            fmax(0, 1 - fabs(positive[j] - (-1 + (double)s * width)) / width);
    return loss / ((double)m * (double)n);
}

/* Of scores (rows, n). */
static double info_nce(const double *scores, size_t rows, size_t n, const uint32_t *group)
{
    double loss = 0;
    for (size_t i = 0; i < rows; i++)
        loss += ref_cross_entropy(scores + i * n, i, n, (uint32_t)((i + rows / 2) % rows), group,
                                  true, 0) /
                (double)rows;
    return loss;
}

double ref_info_nce(const double *vectors, size_t rows, size_t n, size_t d, const uint32_t *group,
                    double temperature)
{
    double *u = calloc(n * d, sizeof *u), *scores = calloc(n * n, sizeof *scores);
    ref_normalize(u, vectors, n, d);
    ref_matmul(scores, u, u, n, n, d, false, true, 1 / temperature, false);
    double loss = info_nce(scores, rows, n, group);
    free(u);
    free(scores);
    return loss;
}

double ref_maxsim(const struct nn_model *m, const double *w, const struct nn_sequences *s,
                  size_t rows, const uint32_t *group, double temperature)
{
    size_t d = m->config.d_model;
    double *x = calloc(s->offset[s->n] * d, sizeof *x), *scores = calloc(rows * s->n, sizeof *x);
    encode(x, m, w, s);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < s->n; j++)
            for (uint32_t a = s->offset[i]; a < s->offset[i + 1]; a++) {
                double most = -1;
                for (uint32_t b = s->offset[j]; b < s->offset[j + 1]; b++)
                    if (is_pooled(s, j, b))
                        most = fmax(most, cosine(x + a * d, x + b * d, d));
                if (is_pooled(s, i, a))
                    scores[i * s->n + j] += most / temperature;
            }
    double loss = info_nce(scores, rows, s->n, group);
    free(x);
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
