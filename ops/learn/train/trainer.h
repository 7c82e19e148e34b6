/* Trains a transformer on equivalent sequences, one step at a time (trained.h). Shards are runs of
 * whole sequences with similar numbers of tokens. */
#pragma once

#include "ops/learn/data/examples.h"
#include "ops/learn/train/trained.h"
#include "ops/learn/train/update.h"
#include "ops/nn/transformer.h"

struct trainer_config {
    struct examples_config examples;
    double temperature; /* cosines are divided by it; 1 for margins and histograms */
    bool maxsim;        /* contrastive, simcse: scores compare tokens, not pooled vectors */
    double margin;      /* triplet, siamese: of cosines */
    bool squared;       /* triplet, siamese: squared hinges */
    bool euclidean;     /* siamese: hinges of distances */
    bool swap;          /* triplet: anchor and positive swap roles where that is harder */
    double smoothing;   /* seq2seq: of labels */
    double dropout, attention_dropout, weight_decay, clip /* 0: off */, beta1, beta2, eps;
    enum optimizer_kind optimizer;
    struct schedule schedule;
    enum gpu_precision precision; /* of the model's products; scores and everything else are f32 */
    uint64_t seed;
};

struct trainer;
/* ERR_INPUT if the objective needs a decoder and the model has none. */
enum err_code trainer_new(void *out, struct gpu_device *device, const struct nn_model *model,
                          const struct trainer_config *c, struct err *e);
void trainer_free(void *trainer);

/* Begins a step on the next examples of the dataset. The device may still work on it when this
 * returns; at most TRAINER_AHEAD steps may have begun without their results being read. */
enum { TRAINER_AHEAD = 2 };
enum err_code trainer_begin(struct trainer *t, const struct dataset *d, struct err *e);
/* Returns the result of the oldest step begun. ERR_FAILED if a number was not finite; the message
 * names step, tensor and examples, and the weights are those before that step. */
enum err_code trainer_result(struct step_result *r, void *trainer, struct err *e);
/* Begins a step and waits for its result. */
enum err_code trainer_step(struct step_result *r, struct trainer *t, const struct dataset *d,
                           struct err *e);
/* Computes loss and accuracy on batch `index` of a dataset, the same one at each step, without
 * dropout (simcse: on pairs from clusters); the other fields of the result are 0. Changes
 * nothing. */
enum err_code trainer_measure(struct step_result *r, struct trainer *t, const struct dataset *d,
                              uint64_t index, struct err *e);

/* Draws the examples of step `index`, or of batch `index` of trainer_measure, into the arena.
 * `sampler` is zeroed before the first call, and then used only with the same dataset and
 * purpose. */
void trainer_draw(struct examples *out, struct arena *a, struct example_sampler *sampler,
                  const struct trainer_config *config, const struct nn_config *model,
                  const struct dataset *d, bool measuring, uint64_t index);

enum err_code trainer_write(void *trainer, const struct trainer_state *state, struct err *e);

/* The same on given examples. trainer_gradient computes loss and gradient (model->table.total) and
 * changes nothing. */
enum err_code trainer_step_on(struct step_result *r, struct trainer *t, const struct examples *x,
                              struct err *e);
enum err_code trainer_gradient(struct step_result *r, float *gradient, struct trainer *t,
                               const struct examples *x, struct err *e);
