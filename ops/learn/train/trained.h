/* The base of every trainer: weights in training on a device, with the optimizer's moments, the
 * gradient, and the number of steps done; memory with the lifetime of the trainer or of a step; and
 * Adam (beta 0.9 and 0.999, eps 1e-8).
 *
 * A step's batch is cut into shards, a function of the batch alone. Shards form as many chains as
 * the device prefers; each chain accumulates its gradient in the order of its shards, in a group,
 * and groups are summed pairwise. So a step's bits do not depend on the number of threads.
 *
 * A trainer's _new initialises weights from the seed, with moments and step 0; the model must
 * outlive it. It stores the pointer in *(void **)out. Use trained_free and trained_read unless the
 * trainer has its own functions. */
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
    size_t gradient;             /* floats of a group: these, and possibly auxiliary ones */
    size_t n_groups;             /* groups in use */
    uint64_t steps;              /* steps done */
    float *weights, *m, *v;      /* device: (table->total) */
    float *groups[GPU_GROUPS];   /* device: the first receives the sum */
    double *squares;             /* device: by block of the gradient */
    struct gpu_outcome *outcome; /* device: of the updates */
    struct gpu_adamw how;
    struct arena own, arena; /* of the trainer; of the step */
    void *memory;            /* device: for a step's batch */
    size_t memory_size;
    void *parts[TRAINED_PARTS]; /* device: freed with the trainer */
    size_t n_parts;
    struct gpu_later *later[2]; /* pending, or NULL; freed after the device, whose memory is freed
                                 * first, has finished all work */
};

/* *out must be zeroed. Initialises weights from the seed, with moments and step 0. The table must
 * outlive it. If `learnt` is 0 there are no moments: the trainer makes updates itself. */
enum err_code trained_open(struct trained *out, struct gpu_device *device,
                           const struct nn_table *table, size_t learnt, size_t gradient,
                           uint64_t seed, struct err *e);
/* Call at the end of a trainer's _new: stores the trainer in *(void **)out, or frees it if `code`
 * is an error. */
enum err_code trained_give(void *out, void *trainer, enum err_code code, struct err *e);
/* Frees a trainer, opened or not; NULL is allowed. */
void trained_free(void *trainer);

/* Allocates device memory with the trainer's lifetime; stores the pointer in *(void **)out. */
enum err_code trained_alloc(void *out, struct trained *x, size_t bytes, struct err *e);
/* Grows x->memory to at least `bytes`, losing its contents, for a batch of n `what` ("images"). For
 * a card, the message of ERR_NOMEM tells how many would fit. */
enum err_code trained_reserve(struct trained *x, size_t bytes, size_t n, const char *what,
                              struct err *e);

enum err_code trained_clear(struct trained *x, struct err *e); /* sets the gradient to 0 */
/* Sums the groups into the first. */
enum err_code trained_reduce(struct trained *x, struct err *e);
/* The same in one pass if all floats have a gradient; also writes each block's sum of squares to
 * x->squares. */
enum err_code trained_reduce_and_square(struct trained *x, struct err *e);
size_t trained_blocks(const struct trained *x);
/* Returns the norm of the summed gradient. */
enum err_code trained_norm(double *out, struct trained *x, struct err *e);
/* Copies the summed gradient: (table->total), 0 where there is none. */
enum err_code trained_gradient(float *out, void *trainer, struct err *e);
/* ERR_FAILED if loss or gradient is not finite. */
enum err_code trained_check(const struct step_result *r, struct err *e);
/* Makes one step with the summed gradient, if it passes that check. */
enum err_code trained_update(struct trained *x, const struct step_result *r, struct err *e);

/* Read and write a trainer's state and step. Reading skips fields that are NULL. */
enum err_code trained_read(struct trainer_state *out, void *trainer, struct err *e);
enum err_code trained_write(void *trainer, const struct trainer_state *state, struct err *e);
