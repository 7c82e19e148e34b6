/* Weights in training, on a device: with the optimizer's moments, the gradient, and the number of
 * steps done; and Adam (beta 0.9 and 0.999, eps 1e-8).
 *
 * The gradient comes in as many groups as the device likes, each of which adds up that of its
 * shards; groups are summed pairwise. */
#pragma once

#include "gpu/gpu.h"
#include "ops/learn/checkpoint/checkpoint.h"

struct trained {
    struct gpu_device *device;
    struct gpu_queue *queue;
    const struct nn_table *table;
    size_t learnt;               /* floats before this have a gradient */
    size_t gradient;             /* floats of a group: these, and perhaps some that others need */
    uint64_t steps;              /* done */
    float *weights, *m, *v;      /* device: (table->total) */
    float *groups[GPU_GROUPS];   /* device: the sum goes into the first */
    double *squares;             /* device: by block of the gradient */
    struct gpu_outcome *outcome; /* device: that updates are made as they are */
    struct gpu_adamw how;
};

/* `out` is zeroed. Weights are initialised from the seed, moments 0, step 0. The table must outlive
 * it. After a failure, too, it is to be closed. */
enum err_code trained_open(struct trained *out, struct gpu_device *device,
                           const struct nn_table *table, size_t learnt, size_t gradient,
                           uint64_t seed, struct err *e);
void trained_close(struct trained *x);

/* At least so many bytes of the device's memory, contents lost, for a batch of n `what` ("images").
 * ERR_NOMEM of a card says how many would fit. */
enum err_code trained_reserve(void **memory, size_t *size, struct gpu_device *d, size_t bytes,
                              size_t n, const char *what, struct err *e);

enum err_code trained_clear(struct trained *x, struct err *e); /* the gradient */
/* Sums the groups. */
enum err_code trained_reduce(struct trained *x, struct err *e);
/* The length of the sum's learnt part. */
enum err_code trained_norm(double *out, struct trained *x, struct err *e);
/* One step by the sum. */
enum err_code trained_update(struct trained *x, double lr, struct err *e);

/* The state and its step. Reading: what is NULL is not asked for. */
enum err_code trained_read(struct trainer_state *out, struct trained *x, struct err *e);
enum err_code trained_write(struct trained *x, const struct trainer_state *state, struct err *e);
