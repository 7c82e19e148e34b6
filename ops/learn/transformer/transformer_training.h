/* The training of a transformer on equivalent sequences. Shards are runs of whole sequences with
 * similar numbers of tokens. */
#pragma once

#include "ops/learn/data/examples.h"
#include "ops/learn/train/trainer.h"
#include "ops/nn/transformer/transformer.h"

struct transformer_config {
    struct examples_config examples;
    double temperature; /* cosines are divided by it; 1 for margins and histograms */
    bool maxsim;        /* contrastive, simcse: scores compare tokens, not pooled vectors */
    double margin;      /* triplet, siamese: of cosines */
    bool squared;       /* triplet, siamese: squared hinges */
    bool euclidean;     /* siamese: hinges of distances */
    bool swap;          /* triplet: anchor and positive swap roles where that is harder */
    double smoothing;   /* seq2seq: of labels */
    double dropout, attention_dropout;
    struct optimizer optimizer;
    enum gpu_precision precision; /* of the model's products; scores and everything else are f32 */
    uint64_t seed;
};

/* A batch is a struct examples. When measuring there is no dropout. ERR_INPUT if the objective
 * needs a decoder and the model has none. */
enum err_code transformer_new(void *out, struct gpu_device *device, const struct nn_model *model,
                              const struct transformer_config *c, struct err *e);

/* The batches of a dataset; those of validation are the same at each step, and of pairs also for
 * simcse. */
struct transformer_batches {
    struct batches base;
    struct transformer_config config;
    bool wrap;                         /* of the model */
    const struct dataset *data[2];     /* to train on, to validate on; must outlive this */
    struct example_sampler sampler[2]; /* of those */
};
struct transformer_batches transformer_batches(const struct transformer_config *c,
                                               const struct nn_config *model,
                                               const struct dataset *data,
                                               const struct dataset *valid);
void transformer_batches_free(struct transformer_batches *x);
