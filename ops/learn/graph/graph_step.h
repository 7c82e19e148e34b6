/* Inside of a graph network's training: what a step is made of. Loss and gradient are those of the
 * batch that graph_step_forward was given. */
#ifndef OPS_LEARN_GRAPH_GRAPH_STEP_H
#define OPS_LEARN_GRAPH_GRAPH_STEP_H

#include "ops/learn/graph/graph_norms.h"
#include "ops/learn/graph/graph_trainer.h"

struct graph_shard {
    size_t first; /* graph of the batch */
    struct graph_set s;
    struct graph_tape tape;
};

struct graph_trainer {
    struct gpu_device *device;
    const struct graph_model *model;
    struct graph_trainer_config config;
    uint64_t steps;
    float *weights, *m, *v;           /* device: (total) */
    float *groups[GPU_GROUPS];        /* device: gradients of learnt parameters, then of alpha E */
    float *sinusoids, *table, *norms; /* device; norms: (4, norms, d), as graph_weights has them */
    struct gpu_outcome *outcome;      /* device: that updates are made as they are */
    double *squares;                  /* device: by block of the gradient */
    float *flat;                      /* host: (total); running statistics only */
    struct gpu_queue *queue;
    struct arena arena; /* of the step */
    struct arena norm_arena;
    struct graph_norm *norm; /* (norms) */
    struct graph_shard *shards;
    size_t n_shards, nodes, hidden;
    void *memory; /* device: grows */
    size_t memory_size;
    struct graph_scratch *scratch; /* by queue */
    float *vectors;                /* host: (graphs, out) */
    struct graph_lengths lengths;
    size_t stage;
    bool training;
    struct gpu_adamw how;
};

/* A group's floats. */
static inline size_t graph_gradient_size(const struct graph_trainer *t)
{
    return t->model->learnt + (size_t)t->model->config.positions * t->model->config.d;
}

/* Floats of block `item` of n. */
static inline size_t graph_block_length(const struct graph_trainer *t, size_t item, size_t n)
{
    size_t block = t->device->cuts.block, left = n - item * block;
    return left < block ? left : block;
}

static inline size_t graph_blocks(const struct graph_trainer *t, size_t n)
{
    return (n + t->device->cuts.block - 1) / t->device->cuts.block;
}

/* To t->vectors; with the batch's statistics in training, else with running ones. */
enum err_code graph_step_forward(struct graph_trainer *t, const struct graph_set *x, bool training,
                                 struct err *e);
/* Loss and accuracy; with `gradient` also that of vectors and of the heads. */
enum err_code graph_step_losses(struct step_result *r, struct graph_trainer *t, size_t graphs,
                                bool gradient, struct err *e);
/* The gradient to t->groups[0], its squares to t->squares. */
enum err_code graph_step_backward(struct graph_trainer *t, struct err *e);

#endif
