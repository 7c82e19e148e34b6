/* Internal to the training of tree networks: what the trainer and its losses share. */
#pragma once

#include "ops/learn/tree/tree_trainer.h"
#include "ops/nn/tree/tree_net.h"

struct tree_shard {
    size_t first; /* index in the batch */
    struct tree_lists lists;
    struct tree_tape tape;
    float *values; /* functions, on the device: (nodes - roots, TREE_VALUES), then their gradient */
};

/* Device memory of the loss of functions, for n trees with vectors of `width`. */
struct tree_contrast {
    float *units, *norms, *dvectors; /* (n, width), (n), (n, width) */
    float *loss, *correct;           /* (rows) */
    uint32_t *target, *group;        /* (rows), (n) */
    double *sums;
};

struct tree_trainer {
    struct trained base;     /* a step's weights on the device, and its gradients */
    struct gpu_queue *queue; /* borrowed */
    const struct tree_model *model;
    struct tree_trainer_config config;
    float *weights, *momentum, *squares; /* host: (table.total) */
    float *used, *factor;                /* a step's weights; their dropout factors */
    float *gradient;                     /* host: (table.total) */
    struct tree_pass pass;
    struct tree_shard *shards;
    size_t n_shards;
    struct tree_scratch *scratch; /* by queue */
    float *vectors, *scores;      /* device: (trees, width), (trees, classes or trees) */
    struct tree_contrast contrast;
};

/* Computes the loss of t's shards after the forward pass; replaces t->vectors and the shards'
 * values by their gradients. */
enum err_code tree_functions_loss(struct step_result *r, struct tree_trainer *t,
                                  const struct tree_batch *x, struct err *e);
