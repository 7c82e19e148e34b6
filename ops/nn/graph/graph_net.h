/* The graph network's passes over a shard, a run of whole graphs, on one queue.
 *
 * Batch norm needs statistics of all shards of a batch, so a pass is divided into stages: stage 0
 * is the first layer, stage k > 0 the k-th norm with the one or two layers that follow it; the last
 * stage also computes the vectors and the heads. Between stages the caller adds up the column sums
 * of the shards. Backward runs the stages in reverse; gradients of shards add up. */
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

/* The buffers to which a shard's backward adds: the trained parameters, then d alpha E (positions,
 * d). */
struct graph_gradients {
    float *flat, *positions;
};

/* What a shard of T nodes keeps from forward to backward. */
struct graph_tape {
    struct graph_lists lists;
    float **h;               /* (layers + 1), each (T, d) */
    float *dh;               /* (T, d) */
    float *pooled, *dpooled; /* (graphs, d) */
    float *vectors;          /* (graphs, out), not normalised; replaced by their gradient */
    float *states, *dstates; /* (hidden, d) */
    float *logits[GRAPH_HEADS], *loss[GRAPH_HEADS], *correct[GRAPH_HEADS];
    double *sums; /* (2, d): the column sums at the end of a stage */
};

/* A queue's working memory, for at most T nodes. */
struct graph_scratch {
    float *x, *y; /* (T, d) */
    float *rows;  /* (graph_table_rows, d) */
};

size_t graph_stages(const struct graph_model *m);

/* Training lays out everything; inference has one h for all layers and no gradients. */
void graph_tape_layout(struct graph_tape *t, const struct graph_model *m, const struct graph_set *s,
                       bool training, struct gpu_layout *l, struct arena *a);
void graph_scratch_layout(struct graph_scratch *s, const struct graph_model *m, size_t nodes,
                          bool training, struct gpu_layout *l);

/* Computes the table from the parameters and E, both on the device. */
void graph_table_make(struct gpu_queue *q, float *table, const float *flat, const float *sinusoids,
                      const struct graph_model *m);
/* Computes the gradient of alpha from that of alpha E; overwrites it. */
void graph_alpha_back(struct gpu_queue *q, float *dflat, const float *dpositions,
                      const float *sinusoids, const struct graph_model *m);

/* If `sums` is set and another stage follows, writes the sums of h and of its squares to
 * t->sums. */
void graph_forward(struct gpu_queue *q, const struct graph_model *m, const struct graph_weights *w,
                   const struct graph_tape *t, const struct graph_scratch *s, size_t stage,
                   bool sums);
/* Takes the gradients of vectors and of the logits of hidden nodes in t->vectors and t->logits.
 * Unless the stage is 0, writes to t->sums the sums of the gradient of the norm's output and of
 * that times h. */
void graph_backward(struct gpu_queue *q, const struct graph_gradients *g,
                    const struct graph_model *m, const struct graph_weights *w,
                    const struct graph_tape *t, const struct graph_scratch *s, size_t stage);
