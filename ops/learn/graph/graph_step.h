/* Inside of a graph network's training: what a step is made of. Loss and gradient are those of the
 * batch that graph_step_forward was given. */
#pragma once

#include "ops/learn/graph/graph_trainer.h"
#include "ops/learn/train/trained.h"
#include "ops/nn/batch_norm.h"

struct graph_shard {
    size_t first; /* graph of the batch */
    struct graph_set s;
    struct graph_tape tape;
};

struct graph_trainer {
    struct gpu_device *device;
    struct gpu_queue *queue; /* the weights' */
    const struct graph_model *model;
    struct graph_trainer_config config;
    struct trained trained;           /* gradients of learnt parameters, then of alpha E */
    float *sinusoids, *table, *norms; /* device; norms: (4, norms, d), as graph_weights has them */
    float *flat;                      /* host: (total); running statistics only */
    struct arena arena;               /* of the step */
    struct arena norm_arena;
    struct batch_norm *norm; /* (norms) */
    struct graph_shard *shards;
    size_t n_shards, nodes, hidden;
    void *memory; /* device: grows */
    size_t memory_size;
    struct graph_scratch *scratch; /* by queue */
    float *vectors;                /* host: (graphs, out) */
    struct graph_lengths lengths;
    size_t stage;
    bool training;
};

/* To t->vectors; with the batch's statistics in training, else with running ones. */
enum err_code graph_step_forward(struct graph_trainer *t, const struct graph_set *x, bool training,
                                 struct err *e);
/* Loss and accuracy; with `gradient` also that of vectors and of the heads. */
enum err_code graph_step_losses(struct step_result *r, struct graph_trainer *t,
                                const struct graph_set *x, bool gradient, struct err *e);
/* The gradient: the first of the groups. */
enum err_code graph_step_backward(struct graph_trainer *t, struct err *e);
