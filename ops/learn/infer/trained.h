/* The network of a checkpoint on its own device, for inference: read-only, so that any number of
 * threads may use it concurrently. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"

/* A kind of network: the size of its struct, which begins with a struct trained, and its loader.
 * ERR_INPUT if the checkpoint is of another kind. */
struct trained_kind {
    size_t size;
    enum err_code (*load)(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e);
};

struct trained {
    struct arena arena;
    struct gpu_device *device;
    enum gpu_precision precision;
    void *memory[4]; /* device memory; freed with the network */
    size_t n;
};

/* Stores the pointer to the kind's struct in *(void **)out. */
enum err_code trained_new(void *out, const struct trained_kind *kind, const char *device,
                          enum gpu_precision precision, const Eqloom__Checkpoint *c,
                          const struct chunk_io *io, struct err *e);
void trained_free(void *network); /* may be NULL */
/* Allocates device memory with the lifetime of the network, 64-byte aligned and zeroed; stores the
 * pointer in *(void **)out. */
enum err_code trained_alloc(void *out, struct trained *x, size_t bytes, struct err *e);
/* Loads the checkpoint's weights: on the host, in the arena, and on the device. */
enum err_code trained_weights(float **host, float **weights, struct trained *x,
                              const struct nn_table *t, const Eqloom__Checkpoint *c,
                              const struct chunk_io *io, struct err *e);
