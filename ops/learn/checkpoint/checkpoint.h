/* Writes a trainer's state as a Checkpoint record and reads it back. Tensors are the weights in the
 * model's order, then the optimizer's moments ("adam.m/NAME", "adam.v/NAME"), absent at step 0,
 * then, with patience, the best weights so far ("best/NAME"). A finished training may hold weights
 * only.
 *
 * Values are little-endian f32 in chunks of at most 4 MiB, so that the record itself is small and
 * checkpoints with equal values share chunks. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "checkpoint.pb-c.h"
#include "gpu/gpu.h"
#include "ops/nn/transformer/model.h"

/* A training's state: flat vectors of table.total floats; NULL if absent. */
struct trainer_state {
    float *weights, *m, *v; /* m, v: the optimizer's moments */
    float *best;            /* weights with the lowest validation loss so far */
    uint64_t steps;
};

/* Storage of chunks. */
struct chunk_io {
    void *arg;
    enum err_code (*put)(struct digest *id, void *arg, struct span data, struct err *e);
    enum err_code (*get)(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                         struct err *e);
};

/* Fills architecture, step and tensors of an initialised message; allocates in the arena. */
enum err_code checkpoint_write(Eqloom__Checkpoint *out, const char *architecture,
                               const struct nn_table *t, const struct trainer_state *state,
                               const struct chunk_io *io, struct arena *a, struct err *e);
/* Builds the model of the checkpoint's architecture. ERR_INPUT if that is not a transformer. */
enum err_code checkpoint_model(struct nn_model **out, const Eqloom__Checkpoint *c, struct arena *a,
                               struct err *e);
/* Returns the parameter table of the network that *text describes, of any kind, and the text in
 * canonical form. */
enum err_code checkpoint_table(const struct nn_table **out, char **text, struct arena *a,
                               struct err *e);
/* Returns true if training can continue from it: it is of step 0 or holds the optimizer's
 * moments. */
bool checkpoint_continues(const Eqloom__Checkpoint *c, const struct nn_table *t);
/* Reads into vectors of t->total floats (m, v and best may be NULL: not read); absent tensors are
 * 0. ERR_CORRUPT if a tensor is missing, superfluous or of another shape. */
enum err_code checkpoint_read(struct trainer_state *out, const struct nn_table *t,
                              const Eqloom__Checkpoint *c, const struct chunk_io *io,
                              struct arena *a, struct err *e);
