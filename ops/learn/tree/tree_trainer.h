/* Training of a network on trees to tell classes of equal expressions, as EqNet's program does:
 *
 *     loss = mean of max(0, margin + greatest other class's score - own class's score)
 *            - codes * mean over trees of the cosines of operands, and of results, with what the
 *              auto-encoder makes of them
 *
 * A class's score is the product of its vector with the tree's, plus the logarithm of its share of
 * the trees. Matrices of operators and vectors of classes are dropped out by single numbers, leaves
 * get normal noise, both anew each step. Updates are RMSprop's with Nesterov's momentum, of
 * gradients cut number by number.
 *
 * A network of functions has another loss,
 *
 *     mean of the cross entropies of a tree's pair among all trees of other classes and all near
 *     misses, by cosines / temperature
 *     + values * mean of the errors of all nodes' values: squares / (2 * 0.1) up to 0.1, else
 *       linear
 *
 * and no dropout and noise. Near misses whose values are those of what they were made of do not
 * count.
 *
 * Weights are the host's, where they are updated; a step's, with dropout, are written to the
 * device. Shards are of about equal nodes (trained.h). */
#pragma once

#include "ops/learn/train/trained.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_points.h"

struct tree_trainer_config {
    double margin;
    struct schedule schedule;
    double rho, momentum, clip;
    double deviation;      /* of initial numbers, and of the leaves' noise */
    double dropout;        /* of weights */
    double hidden_dropout; /* of hidden layers: EqNet-L's */
    double noise;          /* share of its input that the auto-encoder does not see */
    double intro;          /* the auto-encoder's weight is 1 - intro^stage */
    uint64_t stage;        /* in steps */
    enum gpu_precision precision;
    uint64_t seed;
    const float *prior; /* (classes): logarithms of their shares; must outlive the trainer */
    /* Of a network of functions: */
    double values, temperature;
    const struct tree_meaning *meaning; /* of tokens; must outlive the trainer */
};

struct tree_trainer;
enum err_code tree_trainer_new(void *out, struct gpu_device *device, const struct tree_model *model,
                               const struct tree_trainer_config *c, struct err *e);

/* One step. ERR_FAILED, the weights as they were, if loss or gradient is not finite. */
enum err_code tree_trainer_step(struct step_result *r, struct tree_trainer *t,
                                const struct tree_batch *x, struct err *e);
/* Loss and gradient (table.total) of a step alone. Changes nothing. */
enum err_code tree_trainer_gradient(struct step_result *r, float *gradient, struct tree_trainer *t,
                                    const struct tree_batch *x, struct err *e);
/* How well the vectors of a batch tell its classes: accuracy is the share of trees whose nearest
 * other one is of its class, loss 1 - score_5 (neighbours of the class among five, of as many as
 * there could be, the tree itself counted). Trees that are alone in their class are not asked.
 * Changes nothing. */
enum err_code tree_trainer_measure(struct step_result *r, struct tree_trainer *t,
                                   const struct tree_batch *x, struct err *e);

enum err_code tree_trainer_read(struct trainer_state *out, void *trainer, struct err *e);
enum err_code tree_trainer_write(void *trainer, const struct trainer_state *state, struct err *e);
