/* A trainer's state as a Checkpoint record, and back. Tensors are the weights in the model's
 * order, then the optimizer's moments ("adam.m/NAME", "adam.v/NAME"), which are absent at step 0,
 * then, if validation chooses, the best weights so far ("best/NAME"). A finished training may hold
 * weights alone.
 * Their values are little-endian f32 in chunks of at most 4 MiB, so that the record itself is
 * small and each chunk is shared by all that hold the same values. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "checkpoint.pb-c.h"
#include "gpu/gpu.h"
#include "ops/nn/model.h"

/* A training's state: flat vectors of the table's total floats; what is NULL is absent. */
struct trainer_state {
    float *weights, *m, *v; /* the optimizer's moments: m, v */
    float *best;            /* weights of the minimal validation loss so far */
    uint64_t steps;
};

/* Where chunks go to and come from. */
struct chunk_io {
    void *arg;
    enum err_code (*put)(struct digest *id, void *arg, struct span data, struct err *e);
    enum err_code (*get)(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                         struct err *e);
};

/* Fills architecture, step and tensors of an initialised message; all of it lives in the arena. */
enum err_code checkpoint_write(Eqloom__Checkpoint *out, const char *architecture,
                               const struct nn_table *t, const struct trainer_state *state,
                               const struct chunk_io *io, struct arena *a, struct err *e);
/* The model that the checkpoint's architecture describes. ERR_INPUT if that is a graph network. */
enum err_code checkpoint_model(struct nn_model **out, const Eqloom__Checkpoint *c, struct arena *a,
                               struct err *e);
/* The parameters of the network that *text describes, of any kind; the text as it is written. */
enum err_code checkpoint_table(const struct nn_table **out, char **text, struct arena *a,
                               struct err *e);
/* Whether training can go on from it: it is of step 0 or holds the optimizer's moments. */
bool checkpoint_continues(const Eqloom__Checkpoint *c, const struct nn_table *t);
/* Into vectors of t->total floats (m, v and best may be NULL: not asked for); what the checkpoint
 * does not hold is 0. ERR_CORRUPT if a tensor is missing, too many, or of another shape. */
enum err_code checkpoint_read(struct trainer_state *out, const struct nn_table *t,
                              const Eqloom__Checkpoint *c, const struct chunk_io *io,
                              struct arena *a, struct err *e);
