/* The training of a tree network. It learns to distinguish classes of equal expressions, as EqNet's
 * program does:
 *
 *     loss = mean of max(0, margin + greatest other class's score - own class's score)
 *            - codes * mean over trees of the cosines of operands, and of results, with the
 *              auto-encoder's reconstructions
 *
 * A class's score is the dot product of its vector with the tree's, plus the logarithm of its share
 * of the trees. Dropout applies to single elements of operators' matrices and classes' vectors, and
 * normal noise is added to leaves, both anew in each step. Updates are RMSprop with Nesterov's
 * momentum, on elementwise clipped gradients (update.h).
 *
 * A network of functions has a different loss,
 *
 *     mean of the cross entropies of a tree's pair among all trees of other classes and all near
 *     misses, by cosines / temperature
 *     + values * mean of the errors of all nodes' values: squares / (2 * 0.1) up to 0.1, else
 *       linear
 *
 * without dropout and noise. Near misses with the same values as their source are ignored.
 *
 * When measuring, accuracy is the share of trees whose nearest neighbour is of their class, and
 * loss is 1 - score_5 (the class's members among five neighbours, out of as many as possible, the
 * tree itself included). Trees that are alone in their class are skipped. */
#pragma once

#include "ops/learn/train/trainer.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_points.h"

struct tree_training {
    double margin;
    struct optimizer optimizer;
    double deviation;      /* of initial parameters, and of the noise on leaves */
    double dropout;        /* of weights */
    double hidden_dropout; /* of hidden layers, as in EqNet-L */
    double noise;          /* share of the auto-encoder's input that is masked */
    double intro;          /* the auto-encoder's weight is 1 - intro^stage */
    uint64_t stage;        /* length in steps */
    enum gpu_precision precision;
    uint64_t seed;
    const float *prior; /* (classes): log frequencies; must outlive the trainer */
    /* For a network of functions: */
    double values, temperature;
    const struct tree_meaning *meaning; /* by token; must outlive the trainer */
};

/* A batch is a struct tree_batch. */
enum err_code tree_network_new(void *out, struct gpu_device *device, const struct tree_model *model,
                               const struct tree_training *c, struct err *e);
