/* One update of the weights from their gradient: which parameters go together, and how each kind
 * changes.
 *
 * AdamW and Adam work number by number. Muon (Jordan et al. 2024) takes the layers' matrices whole:
 * five Newton-Schulz steps bring the momentum's singular values near 1, so that a step goes equally
 * far in all directions that the gradient has. All else (embedding, norms, biases, output) is
 * updated by AdamW. Its steps are scaled as Liu et al. (2025) do, by
 * 0.2 * sqrt(max(rows, cols)): numbers change as much as by AdamW, with the same rate and decay.
 *
 * Pieces are a function of the model, each is worked on by one queue: the same bits for any number
 * of threads. */
#pragma once

#include "base/arena.h"
#include "ops/nn/model.h"

enum optimizer_kind {
    OPTIMIZER_ADAMW, /* decoupled decay */
    OPTIMIZER_ADAM,  /* decay added to the gradient, as PyTorch's Adam */
    OPTIMIZER_MUON,  /* for matrices; AdamW for all else */
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

/* Numbers that belong to no matrix go in blocks. */
void update_plan_make(struct update_plan *out, struct arena *a, const struct nn_model *m,
                      enum optimizer_kind kind, size_t block);

/* Flat vectors on the device; v of a matrix is not touched. */
struct update_state {
    float *p;
    uint16_t *rounded; /* p in bf16, or NULL */
    float *m, *v;
    const float *g;
};
/* One piece; `work` holds the plan's scratch. */
void update_piece(struct gpu_queue *q, const struct update_piece *x, const struct update_state *s,
                  const struct gpu_adamw *how, enum gpu_precision precision, void *work);
