/* The network of a checkpoint on a device of its own, for inference: read-only, so that any number
 * of threads may use it at a time. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"

/* A kind of network: the size of its struct, which begins with a struct network, and how it is
 * loaded. ERR_INPUT if the checkpoint is of another kind. */
struct network_kind {
    size_t size;
    enum err_code (*load)(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e);
};

struct network {
    struct arena arena;
    struct gpu_device *device;
    enum gpu_precision precision;
    void *memory[4]; /* device; freed with it */
    size_t n;
};

/* `out` is where the pointer to the kind's struct goes. */
enum err_code network_new(void *out, const struct network_kind *kind, const char *device,
                          enum gpu_precision precision, const Eqloom__Checkpoint *c,
                          const struct chunk_io *io, struct err *e);
void network_free(void *network); /* or NULL */
/* Memory of the device that lives as long; 64-byte aligned, zeroed. `out` is where the pointer
 * goes.
 */
enum err_code network_alloc(void *out, struct network *x, size_t bytes, struct err *e);
/* The checkpoint's weights: on the host, in the arena, and on the device. */
enum err_code network_weights(float **host, float **weights, struct network *x,
                              const struct nn_table *t, const Eqloom__Checkpoint *c,
                              const struct chunk_io *io, struct err *e);
