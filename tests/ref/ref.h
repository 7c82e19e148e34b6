/* Every tensor op once more: plain C, double precision, no thought of speed. Only forward: a
 * backward is checked against finite differences of these. Shapes and meanings as in gpu/gpu.h. */
#pragma once

#include "ops/nn/transformer/transformer.h"

/* c (m, n) = alpha op(a) op(b) [+ c], without leading dimensions of its own */
void ref_matmul(double *c, const double *a, const double *b, size_t m, size_t n, size_t k, bool ta,
                bool tb, double alpha, bool accumulate);
/* y (t, out) [+]= x (t, in) w^T + b; b may be NULL. */
void ref_linear(double *y, const double *x, const double *w, const double *b, size_t t, size_t in,
                size_t out, bool accumulate);
/* bias may be NULL. */
void ref_convolve(double *y, const double *x, const double *filters, const double *bias,
                  const struct gpu_convolution *how);
void ref_max_pool(double *y, uint8_t *at, const double *x, const struct gpu_max_pool *how);
void ref_max_pool_back(double *dx, const float *dy, const uint8_t *at,
                       const struct gpu_max_pool *how);
double ref_activation(double x, enum gpu_activation kind);
void ref_norm(double *y, const double *x, const double *gamma, const double *beta, size_t rows,
              size_t cols);
/* Values instead of at->q, k and v; lse is not filled. */
void ref_attention(double *out, const double *q, const double *k, const double *v,
                   const struct gpu_attention *at);
void ref_embed(double *x, const double *table, const double *positions, const uint32_t *token,
               const uint32_t *offset, size_t sequences, size_t cols, double scale);
void ref_pool(double *y, const double *x, const uint32_t *row, const uint32_t *offset,
              size_t segments, size_t cols, enum gpu_pooling kind);
void ref_normalize(double *y, const double *x, size_t rows, size_t cols);
/* What dropout multiplies the element of this number by. */
double ref_kept(const struct gpu_dropout *d, uint64_t number);
/* The loss of one row of logits. */
double ref_cross_entropy(const double *logits, size_t row, size_t cols, uint32_t target,
                         const uint32_t *group, bool self, double smoothing);
/* Nesterov's momentum as two steps: to where it leads, and from there along the gradient. */
void ref_rmsprop(double *p, double *m, double *v, double g, double lr, double decay,
                 double momentum);
void ref_adamw(double *p, double *m, double *v, double g, double lr, double beta1, double beta2,
               double eps, double weight_decay, unsigned step);

/* pooled (sequences, d) from the flat parameters. */
void ref_encoder(double *pooled, const struct nn_model *m, const double *w,
                 const struct nn_sequences *s);
/* Mean over the target tokens, the end included, of their smoothed cross entropy. */
double ref_seq2seq(const struct nn_model *m, const double *w, const struct nn_sequences *inputs,
                   const struct nn_sequences *targets, double smoothing);
/* Anchors, their partners, then `negatives` of each: the mean InfoNCE of each anchor's partner
 * against its negatives. */
double ref_own_negatives(const double *vectors, size_t anchors, size_t negatives, size_t d,
                         double temperature);
/* Of the same vectors, the mean over all triplets of max(0, margin - s(anchor, partner) + s), s
 * being s(anchor, negative), or with `swap` s(partner, negative) if that is greater; or of its
 * square. */
double ref_triplets(const double *vectors, size_t anchors, size_t negatives, size_t d,
                    double margin, bool squared, bool swap);
/* Of the same, the mean over all pairs of an anchor of max(0, margin - y s), y being 1 for its
 * partner and -1 for its negatives; or of its square; or, euclidean, of the squared distance of the
 * unit vectors, for negatives of max(0, margin - distance)^2. */
double ref_siamese(const double *vectors, size_t anchors, size_t negatives, size_t d, double margin,
                   bool squared, bool euclidean);
/* How likely one of the n negative similarities is at least one of the m positive ones, each being
 * shared by the two bins next to it. */
double ref_histogram(const double *positive, size_t m, const double *negative, size_t n);
/* Mean InfoNCE of the first `rows` of the vectors (n, d), the first half of these paired with the
 * second. */
double ref_info_nce(const double *vectors, size_t rows, size_t n, size_t d, const uint32_t *group,
                    double temperature);

/* The same, a score being the sum over the pooled tokens of one of the largest cosine with one of
 * the other. */
double ref_maxsim(const struct nn_model *m, const double *w, const struct nn_sequences *s,
                  size_t rows, const uint32_t *group, double temperature);

/* The derivative of f by x[i], central differences. */
double ref_derivative(double (*f)(void *arg, const double *x), void *arg, double *x, size_t i);
