/* Batch norm over the rows of a matrix: from sums over a batch, or running statistics, to what each
 * column is multiplied by and what is added to it (gpu.h's affine_columns). No factor and shift
 * that are learnt. Momentum 0.1, eps 1e-5 and the unbiased running variance are PyTorch's. */
#pragma once

#include "base/arena.h"

/* One norm's columns, (d) each, host. */
struct batch_norm {
    double *mean, *variance;  /* of the batch */
    float *factor, *shift;    /* y = h * factor + shift */
    float *back, *back_shift; /* dh = dy * factor + h * back + back_shift */
};
void batch_norm_alloc(struct batch_norm *x, struct arena *a, size_t d);

/* sums (2, d): of h and its squares, over n rows. */
void batch_norm_of_sums(struct batch_norm *x, const double *sums, size_t n, size_t d);
/* sums (2, d): of dy and of dy * h. After batch_norm_of_sums. */
void batch_norm_back(struct batch_norm *x, const double *sums, size_t n, size_t d);
/* Of running statistics, which are constants: back and back_shift are 0. */
void batch_norm_running(struct batch_norm *x, const float *mean, const float *variance, size_t d);

/* Moves running statistics towards those of a batch of n rows; a running number towards another. */
void batch_norm_move(float *mean, float *variance, const struct batch_norm *x, size_t n, size_t d);
void batch_norm_move_number(float *running, double to);
