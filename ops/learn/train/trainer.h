/* Trains any network, one step at a time: weights on a device with the optimizer's moments, their
 * gradient, and the number of steps done. What is particular to a network is in struct network.
 *
 * A step's batch is cut into shards, a function of the batch alone. Shards form as many chains as
 * the device prefers; each chain accumulates its gradient in the order of its shards, in a group,
 * and groups are summed pairwise. So a step's bits do not depend on the number of threads. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/learn/train/update.h"
#include "ops/nn/buffer.h"

struct step_result {
    uint64_t step;        /* from 1 on */
    double loss;          /* mean over the batch's vectors, triplets or target tokens */
    double accuracy;      /* share of vectors whose positive ranks first, of triplets in order, or
                           * of target tokens predicted correctly */
    double gradient_norm; /* before clipping */
    double lr;
    uint64_t tokens; /* or nodes */
};
struct trainer;

/* How a network computes. Its own struct begins with a struct trainer, to which all pointers point;
 * functions may be NULL where nothing is said. In each step they are called in this order. */
struct network {
    size_t size; /* of its struct */
    /* A step may begin before the result of the previous one is read: the host computes nothing
     * that the step depends on. */
    bool ahead;
    /* Changes the initial weights, flat on the host (NULL: as the table says), and allocates what
     * it needs. */
    void (*initialise)(float *weights, void *self); /* may be NULL */
    enum err_code (*open)(void *self, struct err *e);
    void (*close)(void *self); /* may be NULL */

    /* Cuts self->batch into shards, in the arena. Returns the number of examples. */
    size_t (*cut)(void *self);
    nn_lay_out *lay_out; /* the tensors of all shards */
    enum err_code (*load)(void *self, const struct nn_block *inputs, struct err *e);
    enum err_code (*forward)(void *self, struct err *e);
    /* Sets `sums` and `tokens`; with self->training also computes the gradient of the outputs. */
    enum err_code (*loss)(void *self, struct err *e);     /* may be NULL: forward does it */
    enum err_code (*backward)(void *self, struct err *e); /* adds to the groups */
    enum err_code (*summed)(void *self, struct err *e);   /* may be NULL: the groups are summed */
    /* The weights have been updated, or (with them on the host) replaced. Both may be NULL. */
    void (*moved)(void *self);
    void (*replaced)(void *self, const float *weights);
};

/* The examples of steps. */
struct batches {
    /* Draws the batch of step `index`, or of validation, into the arena. */
    const void *(*draw)(struct batches *self, struct arena *a, bool measuring, uint64_t index);
};

/* At most this many steps may have begun without their results being read. */
enum { TRAINER_AHEAD = 2, TRAINER_PARTS = 20 + GPU_GROUPS };

struct trainer_config {
    const struct nn_table *table; /* must outlive the trainer */
    size_t learnt;                /* floats before this have a gradient; 0: all */
    size_t auxiliary;             /* floats of the gradient after those */
    struct optimizer optimizer;
    enum gpu_precision precision; /* of the model's products; everything else is f32 */
    bool rounded;                 /* keep the weights in bf16, too */
    uint64_t seed;                /* of the initial weights */
};

/* Sums of losses and accuracies on the device: n pairs, to be divided by `by`. */
struct loss_sums {
    double *at;
    size_t n;
    double by;
};

struct trainer {
    const struct network *network;
    struct trainer_config config;
    struct gpu_device *device; /* borrowed */
    struct gpu_queue *queue;
    uint64_t steps;              /* steps done */
    float *weights, *m, *v;      /* device: (table->total) */
    uint16_t *rounded;           /* device: the weights in bf16, or NULL */
    float *groups[GPU_GROUPS];   /* device: the first receives the sum */
    size_t n_groups;             /* groups in use */
    size_t gradient;             /* floats of a group */
    double *squares;             /* device: by block of the gradient */
    struct gpu_outcome *outcome; /* device: of the updates */
    double *pair;                /* device: trainer_set_loss */
    struct arena own, arena;     /* of the trainer; of the step */
    struct nn_buffer memory;     /* for a step's batch */
    void *parts[TRAINER_PARTS];  /* device: freed with the trainer */
    size_t n_parts;
    struct update_plan plan;
    void *update_work; /* device: the plan's scratch for each queue */
    struct update_how how;

    struct batches *batches; /* of the steps begun last, or NULL */
    const void *batch;
    bool training; /* else measuring, which changes nothing */
    size_t examples;
    uint64_t tokens;
    struct loss_sums sums;
    struct step_result begun[TRAINER_AHEAD]; /* steps whose results were not read yet, except */
    size_t pending;                          /* for the outcomes: */
    struct gpu_later *later[TRAINER_AHEAD];  /* freed after the device, whose memory is freed first,
                                              * has finished all work */
};

/* Initialises weights, with moments and step 0. `self` is zeroed but for the network's own fields,
 * of network->size bytes from malloc. Stores it in *(void **)out, or frees it after an error. */
enum err_code trainer_open(void *out, void *self, const struct network *network,
                           struct gpu_device *device, const struct trainer_config *c,
                           struct err *e);
void trainer_free(void *trainer); /* NULL is allowed */

/* Begins a step on the next batch. The device may still work on it when this returns. */
enum err_code trainer_begin(void *trainer, struct batches *b, struct err *e);
/* Returns the result of the oldest step begun. ERR_FAILED if a number was not finite; the message
 * names step, tensor and examples, and the weights are those before that step. */
enum err_code trainer_result(struct step_result *r, void *trainer, struct err *e);
/* Begins a step and waits for its result. */
enum err_code trainer_step(struct step_result *r, void *trainer, struct batches *b, struct err *e);
/* Computes loss and accuracy on batch `index` of validation; the other fields of the result are 0.
 * Changes nothing. */
enum err_code trainer_measure(struct step_result *r, void *trainer, struct batches *b,
                              uint64_t index, struct err *e);
/* The same on a given batch. trainer_gradient computes loss and gradient (table->total, 0 where
 * there is none) and changes nothing. */
enum err_code trainer_step_on(struct step_result *r, void *trainer, const void *batch,
                              struct err *e);
enum err_code trainer_measure_on(struct step_result *r, void *trainer, const void *batch,
                                 struct err *e);
enum err_code trainer_gradient(struct step_result *r, float *gradient, void *trainer,
                               const void *batch, struct err *e);

/* Read and write a trainer's state and step. Reading skips fields that are NULL. */
enum err_code trainer_read(struct trainer_state *out, void *trainer, struct err *e);
enum err_code trainer_write(void *trainer, const struct trainer_state *state, struct err *e);

/* ---- for networks ---- */

/* Allocates device memory with the trainer's lifetime; stores the pointer in *(void **)out. */
enum err_code trainer_alloc(void *out, void *trainer, size_t bytes, struct err *e);
/* Sets the sums to a loss that the host has computed. */
void trainer_set_loss(void *trainer, double loss, double accuracy);
