/* Batch norms of a graph network: from sums over a batch, or running statistics, to what each
 * column is multiplied by and what is added to it. Momentum 0.1, eps 1e-5 and the unbiased running
 * variance are PyTorch's. */
#ifndef OPS_LEARN_GRAPH_GRAPH_NORMS_H
#define OPS_LEARN_GRAPH_GRAPH_NORMS_H

#include "ops/learn/graph/graph_similarity.h"
#include "ops/nn/graph/graph_model.h"

/* One norm's columns, (d) each, host. */
struct graph_norm {
    double *mean, *variance;  /* of the batch */
    float *factor, *shift;    /* y = h * factor + shift */
    float *back, *back_shift; /* dh = dy * factor + h * back + back_shift */
};
void graph_norm_alloc(struct graph_norm *x, struct arena *a, size_t d);

/* sums (2, d): of h and its squares, over n nodes. */
void graph_norm_of_sums(struct graph_norm *x, const double *sums, size_t n, size_t d);
/* sums (2, d): of dy and of dy * h. After graph_norm_of_sums. */
void graph_norm_back(struct graph_norm *x, const double *sums, size_t n, size_t d);
/* Of running statistics; flat is the model's vector. */
void graph_norm_running(struct graph_norm *x, const float *flat, const struct graph_model *m,
                        size_t norm);

/* Moves the running statistics in the flat vector towards a batch's: of norm i over n nodes, and of
 * vectors. */
void graph_norm_move(float *flat, const struct graph_model *m, size_t i, const struct graph_norm *x,
                     size_t n);
void graph_lengths_move(float *flat, const struct graph_model *m, const struct graph_lengths *x);
struct graph_lengths graph_lengths_running(const float *flat, const struct graph_model *m);

#endif
