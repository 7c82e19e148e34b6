/* Internal to the training of tree networks: what the network and its losses share. */
#pragma once

#include "ops/learn/tree/tree_network.h"
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

struct tree_network {
    struct trainer base;
    const struct tree_model *model;
    struct tree_training config;
    const struct tree_batch *batch;
    float *used, *noise; /* device: a step's weights, if dropout applies to them; noise of leaves */
    struct gpu_dropout dropout; /* of weights */
    struct tree_pass pass;
    struct tree_shard *shards;
    size_t n_shards;
    struct tree_scratch *scratch; /* by queue */
    float *vectors, *scores;      /* device: (trees, width), (trees, classes or trees) */
    float *dclasses;              /* host: the gradient of the classes' vectors */
    struct tree_contrast contrast;
    double loss, accuracy;
};

/* Computes the loss of t's shards after the forward pass; replaces t->vectors and the shards'
 * values by their gradients. */
enum err_code tree_functions_loss(struct tree_network *t, struct err *e);
