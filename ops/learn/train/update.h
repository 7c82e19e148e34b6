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
#include "gpu/gpu.h"
#include "ops/learn/train/schedule.h"
#include "ops/nn/parameters.h"

enum optimizer_kind {
    OPTIMIZER_ADAMW,   /* decoupled decay */
    OPTIMIZER_ADAM,    /* decay added to the gradient, as in PyTorch's Adam */
    OPTIMIZER_MUON,    /* for matrices; AdamW for the rest */
    OPTIMIZER_RMSPROP, /* with Nesterov's momentum, as in EqNet's program */
};
#define OPTIMIZER_NAMES "adamw|adam|muon"

struct optimizer {
    enum optimizer_kind kind;
    double beta1, beta2; /* of the momentum; of the squares */
    double eps, weight_decay;
    double clip;     /* maximum norm of the gradient; 0: unlimited */
    double elements; /* RMSprop: maximum of a gradient's elements */
    struct schedule schedule;
};

/* As PyTorch's Adam by default. */
static inline struct optimizer optimizer_adam(struct schedule s)
{
    return (struct optimizer){
        .kind = OPTIMIZER_ADAM, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .schedule = s};
}

/* One step of it. */
struct update_how {
    enum optimizer_kind kind;
    enum gpu_precision precision; /* of Muon's products */
    struct gpu_adamw adamw;
    struct gpu_rmsprop rmsprop;
};
/* Returns the step after `steps` steps; the outcome is on the device. */
struct update_how update_step(const struct optimizer *o, enum gpu_precision precision,
                              uint64_t steps, const struct gpu_outcome *outcome);

/* Floats at .. at + n - 1 of the flat vector; a matrix if cols > 0. */
struct update_piece {
    size_t at, n, rows, cols;
};

struct update_plan {
    struct update_piece *pieces;
    size_t n_pieces;
    size_t scratch; /* bytes that a queue needs for its largest matrix */
};

/* Plans the pieces of the first `learnt` floats: one per matrix, and blocks of at most `block`
 * floats for the rest. */
void update_plan_make(struct update_plan *out, struct arena *a, const struct nn_table *t,
                      size_t learnt, enum optimizer_kind kind, size_t block);

/* Flat vectors on the device; v of a matrix is not used. */
struct update_state {
    float *p;
    uint16_t *rounded; /* p in bf16, or NULL */
    float *m, *v;
    const float *g;
};
/* Updates one piece; `work` is the plan's scratch. */
void update_piece(struct gpu_queue *q, const struct update_piece *x, const struct update_state *s,
                  const struct update_how *how, void *work);
