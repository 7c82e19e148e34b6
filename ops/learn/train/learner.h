/* The part that all trainings share, whatever the model: segments and their keys, validation,
 * patience, metrics, checkpoints. The ops use the same names for parameters (steps, epochs, batch,
 * segment, log_every, valid_every, valid_batches, patience, min_steps, precision, device), the
 * inputs init and valid, and the output checkpoint. */
#pragma once

#include "engine/op.h"
#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/learn/train/trainer.h"

/* A model that an op trains, and its training data; each op's own struct begins with it. The op's
 * `prepare` returns it. */
struct learner {
    const struct learner_calls *call;
    struct arena arena;
    char *architecture; /* Checkpoint.architecture */
    const struct nn_table *table;
    const char *vocabulary; /* the input whose id checkpoints hold, or NULL */
    bool validates;
    /* An `init` model may have more or fewer parameters after the first `common` floats: the lines
     * of the architecture with this prefix may differ. NULL: none may. */
    const char *differs;
    size_t common;
};
/* The state of one segment's work; an op's own struct begins with it. */
struct learning {
    struct batches batches; /* `draw` is the op's */
    void *learner;
    struct trainer *trainer;
    struct arena arena; /* of a batch */
};
struct learner_calls {
    size_t size;                    /* size of its struct learning */
    void (*release)(void *learner); /* frees the op's own data */
    /* Opens the examples to train or to validate on. ERR_INPUT if there are none. */
    enum err_code (*examples)(void *learning, struct op_ctx *ctx, bool measuring, struct err *e);
    void (*close)(void *learning); /* closes the examples */
    enum err_code (*open)(void *learning, struct op_ctx *ctx, struct gpu_device *device,
                          struct err *e); /* opens its trainer */
    bool at_once;                         /* one batch of validation has all examples */
    /* For the op's `reads`: hashes the examples of step k, or of validation batch k; `first` is set
     * for the first one. NULL: the op has no `reads`. */
    void (*add)(struct hasher *h, void *learning, bool measuring, uint64_t k, bool first);
};

/* The first call in an op's `prepare`: allocates `size` zeroed bytes. */
void *learner_new(const struct learner_calls *call, size_t size);
/* The `release`, `run` and `reads` of an op. `reads` covers the examples of the segment's steps and
 * validations, the vocabulary, and the initial weights: nothing else in the inputs affects the
 * result. */
void learner_release(void *learner);
enum err_code learner_run(struct op_ctx *ctx, void *learner, struct err *e);
enum err_code learner_reads(struct digest *out, const char **reason, struct op_ctx *ctx,
                            void *learner, struct err *e);
struct learning *learning_new(void *learner);
void learning_free(struct learning *x);
/* The common fields of these ops. */
#define LEARNER_OP                                                                                 \
    .node = OP_CHAIN, .numerics = true, .parallel = true, .cards = learn_cards,                    \
    .units = learn_card_units, .release = learner_release, .run = learner_run,                     \
    .segments = train_segments,                                                                    \
    .outputs = OP_PORTS(                                                                           \
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights, optimizer, step and metrics."})
/* Checks for examples to validate on; ERR_INPUT if there are none and patience needs them. */
enum err_code learner_check_validation(struct learner *l, struct op_ctx *ctx, struct err *e);

/* When to validate, and when to stop. */
struct train_validation {
    uint64_t every, patience, min_steps;
    size_t batches;
};
struct train_validation train_validation(const struct op_ctx *ctx);

/* The length of the training: the parameters steps and epochs, with batch. */
/* clang-format off */
#define TRAIN_STEPS_PARAMS                                                                         \
    {"steps", OP_INT, "", NULL, 0, 1e12,                                                           \
     "Number of steps; 0: only initialise. Without `steps` and `epochs`: 1000."},                  \
    {"epochs", OP_INT, "", NULL, 1, 1e9,                                                           \
     "Instead of `steps`: passes over the first input. An epoch is as many examples as that has "  \
     "elements."}
/* Where and how to train, how often to validate, when to stop: `batches` and `what` are the default
 * and the documentation of valid_batches. */
#define TRAIN_COMMON_PARAMS(batches, what)                                                         \
    {"log_every", OP_INT, "10", NULL, 1, 1e9, "Steps over which recorded metrics are averaged."},  \
    LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM,                                                     \
    {"valid_every", OP_INT, "100", NULL, 1, 1e12, "Steps between validations."},                   \
    {"valid_batches", OP_INT, batches, NULL, 1, 1e6, what},                                        \
    {"patience", OP_INT, "0", NULL, 0, 1e9,                                                        \
     "Stop training after this many validations without a lower loss, with the best weights. "     \
     "0: train all steps and keep the last weights."},                                             \
    {"patience_steps", OP_INT, "0", NULL, 0, 1e12,                                                 \
     "The same in steps, rounded up to the next validation; 0: use `patience`."},                  \
    {"min_steps", OP_INT, "0", NULL, 0, 1e12,                                                      \
     "Minimum number of steps before patience may stop training."}
/* clang-format on */
/* The `check` of an op, or the part of it that all trainings share. */
enum err_code train_check_common(struct op_ctx *ctx, struct err *e);
/* Return the number of steps of the training, and of a parameter that counts epochs if `epochs` is
 * given, else steps. */
uint64_t train_steps(const struct op_ctx *ctx);
uint64_t train_length(const struct op_ctx *ctx, const char *param);

/* The op's `segments`; the steps from .. to that a segment makes; whether the training ends with
 * step `to`. */
enum err_code train_segments(uint64_t *n, struct op_ctx *ctx, struct err *e);
void train_range(uint64_t *from, uint64_t *to, const struct op_ctx *ctx, uint64_t index);
bool train_is_last(const struct op_ctx *ctx, uint64_t to);

/* The contents of a segment's key besides its steps. */
struct train_key {
    const char *architecture;
    uint64_t seed;
    struct schedule schedule;
    const struct op_param *params;
    const char *steps_params; /* names, separated by blanks, of the parameters that all steps depend
                               * on and that no other field here covers */
};
enum err_code train_segment_of(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                               const struct train_key *key, struct err *e);
