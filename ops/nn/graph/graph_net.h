/* The graph network's passes over a shard, a run of whole graphs, on one queue.
 *
 * Batch norm looks at all shards of a batch, so a pass comes in stages: stage 0 is the first layer,
 * stage k > 0 the k-th norm with the one or two layers behind it, the last stage also the vectors
 * and the heads. Between stages the caller joins what the shards' column sums say. Backward goes
 * through the stages in reverse; gradients of shards add up. */
#pragma once

#include "ops/nn/graph/graph_lists.h"

/* On the device. */
struct graph_weights {
    const float *flat;
    const float *table; /* graph_table_rows: the first layer, then alpha E */
    /* norm k: y = h * factor[k] + shift[k]; backward dh = dy * factor[k] + h * back[k] +
     * back_shift[k]. All (norms, d). */
    const float *factor, *shift, *back, *back_shift;
    enum gpu_precision precision;
};

/* Where a shard's backward adds to: the learnt parameters, then d alpha E (positions, d). */
struct graph_gradients {
    float *flat, *positions;
};

/* What a shard keeps from forward to backward, T nodes. */
struct graph_tape {
    struct graph_lists lists;
    float **h;               /* (layers + 1), each (T, d) */
    float *dh;               /* (T, d) */
    float *pooled, *dpooled; /* (graphs, d) */
    float *vectors;          /* (graphs, out), not normalised; then their gradient */
    float *states, *dstates; /* (hidden, d) */
    float *logits[GRAPH_HEADS], *loss[GRAPH_HEADS], *correct[GRAPH_HEADS];
    double *sums; /* (2, d): of the column sums that the stage's end leaves */
};

/* A queue's working memory, for at most T nodes. */
struct graph_scratch {
    float *x, *y; /* (T, d) */
    float *rows;  /* (graph_table_rows, d) */
};

size_t graph_stages(const struct graph_model *m);

/* Training needs all of it; inference one h for all, and no gradients. */
void graph_tape_layout(struct graph_tape *t, const struct graph_model *m, const struct graph_set *s,
                       bool training, struct gpu_layout *l, struct arena *a);
void graph_scratch_layout(struct graph_scratch *s, const struct graph_model *m, size_t nodes,
                          bool training, struct gpu_layout *l);

/* table from the parameters and E, both on the device. */
void graph_table_make(struct gpu_queue *q, float *table, const float *flat, const float *sinusoids,
                      const struct graph_model *m);
/* The gradient of alpha, written, from that of alpha E. */
void graph_alpha_back(struct gpu_queue *q, float *dflat, const float *dpositions,
                      const float *sinusoids, const struct graph_model *m);

/* If another stage follows and `sums`, leaves t->sums: of h and its squares. */
void graph_forward(struct gpu_queue *q, const struct graph_model *m, const struct graph_weights *w,
                   const struct graph_tape *t, const struct graph_scratch *s, size_t stage,
                   bool sums);
/* From t->vectors and, of hidden nodes, t->logits, which hold their gradients. Leaves, unless the
 * stage is 0, t->sums: of the gradient of the norm's result, and that times h. */
void graph_backward(struct gpu_queue *q, const struct graph_gradients *g,
                    const struct graph_model *m, const struct graph_weights *w,
                    const struct graph_tape *t, const struct graph_scratch *s, size_t stage);
