/* The network of a checkpoint on its own device, for inference: read-only, so that any number of
 * threads may use it concurrently. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"

/* A kind of network: the size of its struct, which begins with a struct network, and its loader.
 * ERR_INPUT if the checkpoint is of another kind. */
struct network_kind {
    size_t size;
    enum err_code (*load)(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e);
};

struct network {
    struct arena arena;
    struct gpu_device *device;
    enum gpu_precision precision;
    void *memory[4]; /* device memory; freed with the network */
    size_t n;
};

/* Stores the pointer to the kind's struct in *(void **)out. */
enum err_code network_new(void *out, const struct network_kind *kind, const char *device,
                          enum gpu_precision precision, const Eqloom__Checkpoint *c,
                          const struct chunk_io *io, struct err *e);
void network_free(void *network); /* may be NULL */
/* Allocates device memory with the lifetime of the network, 64-byte aligned and zeroed; stores the
 * pointer in *(void **)out. */
enum err_code network_alloc(void *out, struct network *x, size_t bytes, struct err *e);
/* Loads the checkpoint's weights: on the host, in the arena, and on the device. */
enum err_code network_weights(float **host, float **weights, struct network *x,
                              const struct nn_table *t, const Eqloom__Checkpoint *c,
                              const struct chunk_io *io, struct err *e);
