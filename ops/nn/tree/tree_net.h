/* The passes of a tree network over a shard, some trees of a batch, on one queue. */
#pragma once

#include "gpu/gpu.h"
#include "ops/nn/tree/tree_lists.h"

/* Options of a step's passes. */
struct tree_pass {
    const struct tree_model *m;
    const float *flat; /* device: the parameters */
    enum gpu_precision precision;
    float dropout; /* of hidden layers */
    float noise;   /* share of the auto-encoder's input that is masked */
    float codes;   /* weight of its objective; 0 for none */
    uint64_t key;  /* of dropout and noise */
};

/* What a shard of S nodes of all kinds keeps from forward to backward. Device memory. */
struct tree_tape {
    const struct tree_lists *lists; /* host */
    uint32_t *leaves, *kids, *each; /* each: 0, 1, 2, ... */
    float *scaled;               /* (S): the lists' share, times minus the weight of the codes */
    float *r, *lengths;          /* (S, d), (S): vectors, and their lengths before division */
    float *x, *hidden, *dropped; /* by group: operands (n, arity d); layer (n, hidden), twice */
    float *dr;                   /* (S, d) */
    double *sums;                /* (groups, tree_sums): see tree_codes */
};
/* Working memory of a queue. */
struct tree_scratch {
    float *dx, *dh, *h, *z, *dz, *again, *dagain, *lengths, *unit, *dunit, *read;
    float *layer[TREE_LAYERS], *dlayer[TREE_LAYERS];
};

void tree_tape_layout(struct tree_tape *t, const struct tree_model *m,
                      const struct tree_lists *lists, bool training, struct gpu_layout *l);
void tree_scratch_layout(struct tree_scratch *s, const struct tree_model *m, size_t largest,
                         struct gpu_layout *l);
/* Writes the lists; `codes` is that of the pass. */
void tree_tape_load(struct gpu_queue *q, const struct tree_tape *t, float codes, struct arena *a);

/* Returns the vectors of the trees, (trees, tree_width), in the tape. */
static inline float *tree_vectors(const struct tree_tape *t, const struct tree_model *m)
{
    return t->r + (t->lists->nodes - t->lists->roots) * m->config.d;
}

void tree_forward(struct gpu_queue *q, const struct tree_pass *p, const struct tree_tape *t);
/* Adds to grad (table.total), from dvectors (trees, tree_width), the gradient of the trees'
 * vectors, and from the objective of the codes, or of the values: dvalues (nodes - roots,
 * TREE_VALUES), or NULL. */
void tree_backward(struct gpu_queue *q, float *grad, const struct tree_pass *p,
                   const struct tree_tape *t, const struct tree_scratch *s, const float *dvectors,
                   const float *dvalues);
/* Computes values (nodes - roots, TREE_VALUES) of the nodes. */
void tree_values(struct gpu_queue *q, float *values, const struct tree_pass *p,
                 const struct tree_tape *t);

/* Returns the number of doubles of a group in the tape's sums, which the backward fills. Their
 * total is the loss of the codes: minus the weighted cosines between operands and results and their
 * reconstructions. */
static inline size_t tree_sums(const struct tree_model *m)
{
    return (size_t)2 * (TREE_ARITY + 1) * m->config.d;
}
/* Returns the loss of the codes from a shard's sums, on the host. */
double tree_codes(const double *sums, const struct tree_model *m, const struct tree_lists *lists);
