/* Training of a model on equivalent sequences, one step at a time (trained.h). Shards are whole
 * sequences of about equal tokens. */
#pragma once

#include "ops/learn/data/examples.h"
#include "ops/learn/train/trained.h"
#include "ops/learn/train/update.h"
#include "ops/nn/transformer.h"

struct trainer_config {
    struct examples_config examples;
    double temperature; /* cosines are divided by it; 1 for margins and histograms */
    bool maxsim;        /* contrastive, simcse: scores are of tokens, not of pooled vectors */
    double margin;      /* triplet, siamese: of cosines */
    bool squared;       /* triplet, siamese: squared hinges */
    bool euclidean;     /* siamese: of distances */
    bool swap;          /* triplet: anchor and positive swap roles where that is worse */
    double smoothing;   /* seq2seq: of labels */
    double dropout, attention_dropout, weight_decay, clip /* 0: off */, beta1, beta2, eps;
    enum optimizer_kind optimizer;
    struct schedule schedule;
    enum gpu_precision precision; /* of the model's products; scores and all else are f32 */
    uint64_t seed;
};

struct trainer;
/* ERR_INPUT if the objective needs a decoder and the model has none. */
enum err_code trainer_new(void *out, struct gpu_device *device, const struct nn_model *model,
                          const struct trainer_config *c, struct err *e);
void trainer_free(void *trainer);

/* Begins a step on the next examples of the dataset. The device may work on it for a while; at most
 * TRAINER_AHEAD steps may be begun whose result nobody has asked for. */
enum { TRAINER_AHEAD = 2 };
enum err_code trainer_begin(struct trainer *t, const struct dataset *d, struct err *e);
/* The result of the first of these. ERR_FAILED if a number was not finite: names step, tensor and
 * examples; the weights are as they were before that step. */
enum err_code trainer_result(struct step_result *r, void *trainer, struct err *e);
/* Begins a step and waits for its result. */
enum err_code trainer_step(struct step_result *r, struct trainer *t, const struct dataset *d,
                           struct err *e);
/* Loss and accuracy on batch `index` of a dataset, the same one at each step, without dropout
 * (simcse: of pairs from clusters); the other fields of the result are 0. Changes nothing. */
enum err_code trainer_measure(struct step_result *r, struct trainer *t, const struct dataset *d,
                              uint64_t index, struct err *e);

/* The examples on which step `index` learns, or by which batch `index` of trainer_measure measures;
 * in the arena. `sampler` is zeroed at first, then for the same dataset and purpose alone. */
void trainer_draw(struct examples *out, struct arena *a, struct example_sampler *sampler,
                  const struct trainer_config *config, const struct nn_config *model,
                  const struct dataset *d, bool measuring, uint64_t index);

enum err_code trainer_write(void *trainer, const struct trainer_state *state, struct err *e);

/* On given examples instead. trainer_gradient gives loss and gradient (model->table.total) and
 * changes nothing. */
enum err_code trainer_step_on(struct step_result *r, struct trainer *t, const struct examples *x,
                              struct err *e);
enum err_code trainer_gradient(struct step_result *r, float *gradient, struct trainer *t,
                               const struct examples *x, struct err *e);
