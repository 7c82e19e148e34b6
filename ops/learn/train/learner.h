/* What is the same for all trainings, whatever the model: segments and their keys, validation,
 * patience, metrics, checkpoints. The op's parameters are named alike: steps, epochs, batch,
 * segment, log_every, valid_every, valid_batches, patience, min_steps, precision, device; so are
 * its inputs init and valid, and its output checkpoint. */
#pragma once

#include "engine/op.h"
#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/learn/train/schedule.h"

struct step_result {
    uint64_t step;        /* from 1 on */
    double loss;          /* mean over the batch: of its vectors, triplets or target tokens */
    double accuracy;      /* share of vectors whose positive ranks first, of triplets in order, of
                           * target tokens predicted */
    double gradient_norm; /* before clipping */
    double lr;
    uint64_t tokens; /* or nodes */
};

/* A model that an op trains, and what it learns from; each op's own struct begins with it. It is
 * what the op's prepare leaves. */
struct learner {
    const struct learner_calls *call;
    struct arena arena;
    char *architecture; /* as its checkpoints say it */
    const struct nn_table *table;
    const char *vocabulary; /* the input whose id they name, or NULL */
    bool validates;
    /* What another model of this architecture may have more or less of, behind so many floats that
     * are common: the lines of an architecture that begin so. NULL: nothing. */
    const char *differs;
    size_t common;
};
/* The work of one segment; an op's own struct begins with it. */
struct learning {
    void *learner;
    void *trainer;
    struct arena arena; /* of a batch */
};
struct learner_calls {
    size_t size;                    /* of its struct learning */
    void (*release)(void *learner); /* what is its own */
    /* The examples to learn from, or to measure by. ERR_INPUT if there are none. */
    enum err_code (*examples)(void *learning, struct op_ctx *ctx, bool measuring, struct err *e);
    void (*close)(void *learning); /* those that were opened; NULL: there is nothing to close */
    enum err_code (*open)(void *learning, struct op_ctx *ctx, struct gpu_device *device,
                          struct err *e); /* its trainer */
    void (*free)(void *trainer);
    /* Begins the step after k; measuring: loss and accuracy on batch k, or if these are measured at
     * once on all, without a change. Results of steps come in order; that of one is asked for when
     * one more has been begun, or none will be. Without `result` a step ends at once, and *r is
     * filled. */
    enum err_code (*learn)(struct step_result *r, void *learning, bool measuring, uint64_t k,
                           struct err *e);
    enum err_code (*result)(struct step_result *r, void *trainer, struct err *e);
    bool at_once;
    /* What is NULL is not asked for. */
    enum err_code (*read)(struct trainer_state *out, void *trainer, struct err *e);
    enum err_code (*write)(void *trainer, const struct trainer_state *state, struct err *e);
    /* Of op's reads: what is drawn for step k, or batch k to measure by, of which the first is
     * told.
     */
    void (*add)(struct hasher *h, void *learning, bool measuring, uint64_t k, bool first);
};

/* An op's `prepare` begins with it: zeroed memory of such a size. */
void *learner_new(const struct learner_calls *call, size_t size);
/* An op's `release`, `run` and `reads`. The last: what the segment's steps and validations draw,
 * and which vocabulary and initial weights there are. Nothing else in the inputs affects the
 * result. */
void learner_release(void *learner);
enum err_code learner_run(struct op_ctx *ctx, void *learner, struct err *e);
enum err_code learner_reads(struct digest *out, const char **reason, struct op_ctx *ctx,
                            void *learner, struct err *e);
struct learning *learning_new(void *learner);
void learning_free(struct learning *x);
/* What is the same in the tables of all these ops. */
#define LEARNER_OP                                                                                 \
    .node = OP_CHAIN, .numerics = true, .parallel = true, .cards = learn_cards,                    \
    .units = learn_card_units, .release = learner_release, .run = learner_run,                     \
    .segments = train_segments,                                                                    \
    .outputs = OP_PORTS(                                                                           \
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights, optimizer, step and metrics."})
/* Whether there are examples to validate on; ERR_INPUT if there are none and patience needs them.
 */
enum err_code learner_check_validation(struct learner *l, struct op_ctx *ctx, struct err *e);

/* When to measure on validation data, and when to stop. */
struct train_validation {
    uint64_t every, patience, min_steps;
    size_t batches;
};
struct train_validation train_validation(const struct op_ctx *ctx);

/* How long to train: the parameters steps and epochs, with batch. */
/* clang-format off */
#define TRAIN_STEPS_PARAMS                                                                         \
    {"steps", OP_INT, "", NULL, 0, 1e12,                                                           \
     "Steps of the training; 0: only initialise. Without `steps` and `epochs`: 1000."},            \
    {"epochs", OP_INT, "", NULL, 1, 1e9,                                                           \
     "In place of `steps`: passes over the first input. An epoch is as many examples as that has " \
     "elements."}
/* Where and how to train, how often to measure, when to stop: `batches` is the default of
 * valid_batches, `what` its doc. */
#define TRAIN_COMMON_PARAMS(batches, what)                                                         \
    {"log_every", OP_INT, "10", NULL, 1, 1e9, "Steps over which recorded metrics are averaged."},  \
    LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM,                                                     \
    {"valid_every", OP_INT, "100", NULL, 1, 1e12, "Steps between validations."},                   \
    {"valid_batches", OP_INT, batches, NULL, 1, 1e6, what},                                        \
    {"patience", OP_INT, "0", NULL, 0, 1e9,                                                        \
     "Validations without a lower loss after which training stops, with the best weights. 0: all " \
     "steps, with the last weights."},                                                             \
    {"patience_steps", OP_INT, "0", NULL, 0, 1e12,                                                 \
     "The same in steps, up to the next validation; 0: by `patience`."},                           \
    {"min_steps", OP_INT, "0", NULL, 0, 1e12,                                                      \
     "Steps before which patience does not stop training."}
/* clang-format on */
/* Op's check, or what is the same for all in it. */
enum err_code train_check_common(struct op_ctx *ctx, struct err *e);
/* The steps of the training, and of a parameter that counts epochs if `epochs` is given. */
uint64_t train_steps(const struct op_ctx *ctx);
uint64_t train_length(const struct op_ctx *ctx, const char *param);

/* Op's segments; the steps that one makes; whether the training ends with step `to`. */
enum err_code train_segments(uint64_t *n, struct op_ctx *ctx, struct err *e);
void train_range(uint64_t *from, uint64_t *to, const struct op_ctx *ctx, uint64_t index);
bool train_is_last(const struct op_ctx *ctx, uint64_t to);

/* What the key of a segment is made of, besides its steps. */
struct train_key {
    const char *architecture;
    uint64_t seed;
    struct schedule schedule;
    const struct op_param *params;
    const char *steps_params; /* those that all steps depend on, and that nothing else here says,
                               * separated by blanks */
};
enum err_code train_segment_of(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                               const struct train_key *key, struct err *e);
