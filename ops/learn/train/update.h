/* One update of the weights from their gradient: which parameters form a piece, and how each kind
 * is updated.
 *
 * AdamW and Adam work elementwise. Muon (Jordan et al. 2024) takes whole matrices of layers: five
 * Newton-Schulz steps bring the singular values of the momentum near 1, so that a step is equally
 * long in all directions of the gradient. Everything else (embedding, norms, biases, output) is
 * updated by AdamW. As in Liu et al. (2025), Muon's steps are scaled by 0.2 * sqrt(max(rows,
 * cols)), so that its updates are as large as AdamW's, with the same rate and decay.
 *
 * Pieces depend only on the model, and each is updated on one queue, so the bits do not depend on
 * the number of threads. */
#pragma once

#include "base/arena.h"
#include "ops/nn/model.h"

enum optimizer_kind {
    OPTIMIZER_ADAMW, /* decoupled decay */
    OPTIMIZER_ADAM,  /* decay added to the gradient, as in PyTorch's Adam */
    OPTIMIZER_MUON,  /* for matrices; AdamW for the rest */
};
#define OPTIMIZER_NAMES "adamw|adam|muon"

/* Floats at .. at + n - 1 of the flat vector; a matrix if cols > 0. */
struct update_piece {
    size_t at, n, rows, cols;
};

struct update_plan {
    struct update_piece *pieces;
    size_t n_pieces;
    size_t scratch; /* bytes that a queue needs for its largest matrix */
};

/* Plans the pieces: one per matrix, and blocks of at most `block` floats for the rest. */
void update_plan_make(struct update_plan *out, struct arena *a, const struct nn_model *m,
                      enum optimizer_kind kind, size_t block);

/* Flat vectors on the device; v of a matrix is not used. */
struct update_state {
    float *p;
    uint16_t *rounded; /* p in bf16, or NULL */
    float *m, *v;
    const float *g;
};
/* Updates one piece; `work` is the plan's scratch. */
void update_piece(struct gpu_queue *q, const struct update_piece *x, const struct update_state *s,
                  const struct gpu_adamw *how, enum gpu_precision precision, void *work);
