/* What every trainer begins with: weights in training, on a device, with the optimizer's moments,
 * the gradient, and the number of steps done; memory that lives as long as it or as a step; and
 * Adam (beta 0.9 and 0.999, eps 1e-8).
 *
 * A step's batch is cut into shards, a function of the batch alone. Shards are in as many chains
 * as the device likes, each of which adds up its gradient in the order of its shards: a group;
 * groups are summed pairwise. So a step gives the same bits for any number of threads.
 *
 * A trainer's _new gives it weights initialised from the seed, moments 0, step 0; the model must
 * outlive it, and `out` is where the pointer goes. trained_free frees it, trained_read reads its
 * state, but where it has functions of its own for these. */
#pragma once

#include "gpu/gpu.h"
#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/learn/train/learner.h"

enum { TRAINED_PARTS = 16 + GPU_GROUPS };

struct trained {
    struct gpu_device *device;
    struct gpu_queue *queue;
    const struct nn_table *table;
    size_t learnt;               /* floats before this have a gradient */
    size_t gradient;             /* floats of a group: these, and perhaps some that others need */
    size_t n_groups;             /* that are in use: all */
    uint64_t steps;              /* done */
    float *weights, *m, *v;      /* device: (table->total) */
    float *groups[GPU_GROUPS];   /* device: the sum goes into the first */
    double *squares;             /* device: by block of the gradient */
    struct gpu_outcome *outcome; /* device: that updates are made as they are */
    struct gpu_adamw how;
    struct arena own, arena; /* of the trainer; of the step */
    void *memory;            /* device: of a step's batch */
    size_t memory_size;
    void *parts[TRAINED_PARTS]; /* device: what is freed with it */
    size_t n_parts;
    struct gpu_later *later[2]; /* of what nobody waits for, or NULL; freed when the device, whose
                                 * memory is freed, has ended all work */
};

/* `out` is zeroed. Weights are initialised from the seed, moments 0, step 0. The table must outlive
 * it. If nothing is learnt there are no moments: updates are then made elsewhere. */
enum err_code trained_open(struct trained *out, struct gpu_device *device,
                           const struct nn_table *table, size_t learnt, size_t gradient,
                           uint64_t seed, struct err *e);
/* The end of a trainer's _new, which has `code`: gives it away, or frees it. */
enum err_code trained_give(void *out, void *trainer, enum err_code code, struct err *e);
/* A trainer, which begins with it, opened or not; or NULL. */
void trained_free(void *trainer);

/* Device memory that lives as long; `out` is where the pointer goes. */
enum err_code trained_alloc(void *out, struct trained *x, size_t bytes, struct err *e);
/* x->memory has at least so many bytes, contents lost, for a batch of n `what` ("images").
 * ERR_NOMEM of a card says how many would fit. */
enum err_code trained_reserve(struct trained *x, size_t bytes, size_t n, const char *what,
                              struct err *e);

enum err_code trained_clear(struct trained *x, struct err *e); /* the gradient */
/* Sums the groups. */
enum err_code trained_reduce(struct trained *x, struct err *e);
/* At once, where all is learnt: the same, and to x->squares those of each of the blocks. */
enum err_code trained_reduce_and_square(struct trained *x, struct err *e);
size_t trained_blocks(const struct trained *x);
/* The length of the sum's learnt part. */
enum err_code trained_norm(double *out, struct trained *x, struct err *e);
/* The sum of a trainer's groups: (table->total), 0 for what is not learnt. */
enum err_code trained_gradient(float *out, void *trainer, struct err *e);
/* ERR_FAILED if loss or gradient is not finite. */
enum err_code trained_check(const struct step_result *r, struct err *e);
/* One step by the sum, if it passes that check. */
enum err_code trained_update(struct trained *x, const struct step_result *r, struct err *e);

/* A trainer's state and its step. Reading: what is NULL is not asked for. */
enum err_code trained_read(struct trainer_state *out, void *trainer, struct err *e);
enum err_code trained_write(void *trainer, const struct trainer_state *state, struct err *e);
