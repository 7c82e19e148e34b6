/* Training of an encoder on pairs of equivalent sequences: weights and optimizer on a device, one
 * step at a time.
 *
 * Objective: InfoNCE over the 2B vectors of a batch of B pairs, as in SimCLR: for each vector the
 * cross entropy of its partner against all vectors of other clusters, scores being cosines divided
 * by the temperature. Vectors of the same cluster are no negatives.
 *
 * The batch is cut into shards of whole sequences and about equal tokens, a function of the batch
 * alone; shards are joined into LEARN_GROUPS groups, each of which adds up its gradients in shard
 * order; groups are summed pairwise. So a step gives the same bits for any number of threads. */
#ifndef OPS_LEARN_TRAINER_H
#define OPS_LEARN_TRAINER_H

#include "ops/learn/dataset.h"
#include "ops/learn/schedule.h"
#include "ops/nn/encoder.h"

enum { LEARN_GROUPS = 8 };

struct trainer_config {
    size_t batch; /* pairs */
    double temperature, dropout, weight_decay, clip /* 0: off */, beta1, beta2, eps;
    struct schedule schedule;
    enum gpu_precision precision; /* of the encoder's products; scores and all else are f32 */
    uint64_t seed;
};

struct step_result {
    double loss;          /* mean over the batch */
    double accuracy;      /* how many find their partner first */
    double gradient_norm; /* before clipping */
    double lr;
    uint64_t tokens;
};

struct trainer;
/* Weights as initialised from the seed, moments 0, step 0. The model must outlive the trainer. */
enum err_code trainer_new(struct trainer **out, struct gpu_device *device,
                          const struct nn_model *model, const struct trainer_config *c,
                          struct err *e);
void trainer_free(struct trainer *t);

uint64_t trainer_steps(const struct trainer *t);
/* One step on the next `batch` pairs of the dataset. ERR_FAILED if a number is not finite: names
 * step, tensor and batch, and leaves the weights as they were. */
enum err_code trainer_step(struct step_result *r, struct trainer *t, const struct dataset *d,
                           struct err *e);
/* Loss and accuracy on `batches` batches of pairs of a dataset, the same pairs at each step,
 * without dropout; the rest of the result is 0. Changes nothing. */
enum err_code trainer_measure(struct step_result *r, struct trainer *t, const struct dataset *d,
                              size_t batches, struct err *e);

/* The state, as flat vectors of model->total floats; steps goes with it. */
struct trainer_state {
    float *weights, *m, *v; /* reading: NULL if not asked for */
    float *best;            /* weights of the least validation loss so far, or NULL; the trainer
                             * does not look at them */
    uint64_t steps;
};
enum err_code trainer_read(struct trainer_state *out, struct trainer *t, struct err *e);
enum err_code trainer_write(struct trainer *t, const struct trainer_state *state, struct err *e);

/* Of given sequences instead, the first half paired with the second; group (n) tells clusters
 * apart. trainer_gradient gives loss and gradient (model->total) and changes nothing. */
enum err_code trainer_step_on(struct step_result *r, struct trainer *t,
                              const struct nn_sequences *s, const uint32_t *group, struct err *e);
enum err_code trainer_gradient(struct step_result *r, float *gradient, struct trainer *t,
                               const struct nn_sequences *s, const uint32_t *group, struct err *e);

#endif
