/* Batch norm over the rows of a matrix, without a learnable scale and shift. It turns sums over a
 * batch, or running statistics, into the factor and the shift of each column (affine_columns in
 * gpu.h). Momentum 0.1, eps 1e-5 and the unbiased running variance are PyTorch's. */
#pragma once

#include "base/arena.h"

/* The values of one norm for each column: arrays of (d) on the host. */
struct batch_norm {
    double *mean, *variance;  /* of the batch */
    float *factor, *shift;    /* y = h * factor + shift */
    float *back, *back_shift; /* dh = dy * factor + h * back + back_shift */
};
void batch_norm_alloc(struct batch_norm *x, struct arena *a, size_t d);

/* Takes sums (2, d) of h and of its squares over n rows. */
void batch_norm_of_sums(struct batch_norm *x, const double *sums, size_t n, size_t d);
/* Takes sums (2, d) of dy and of dy * h. Call after batch_norm_of_sums. */
void batch_norm_back(struct batch_norm *x, const double *sums, size_t n, size_t d);
/* From running statistics, which are constants: sets back and back_shift to 0. */
void batch_norm_running(struct batch_norm *x, const float *mean, const float *variance, size_t d);

/* Update running statistics from a batch of n rows, and one running number from a new value. */
void batch_norm_move(float *mean, float *variance, const struct batch_norm *x, size_t n, size_t d);
void batch_norm_move_number(float *running, double to);
