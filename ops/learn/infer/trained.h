/* The network of a checkpoint on its own device, for inference: read-only, so that any number of
 * threads may use it concurrently. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/nn/buffer.h"
#include "token.pb-c.h"

struct op_ctx;

/* Vectors of a record: `values` (n, dim). */
struct embedded {
    float *values;
    size_t n, dim;
    const Eqloom__TokenBatch *of; /* whose texts and names they get, or NULL */
};
/* The values are in the arena. */
enum err_code embedded_new(struct embedded *out, struct arena *a, size_t n, size_t dim,
                           const Eqloom__TokenBatch *of, struct err *e);

/* A kind of network: the size of its struct, which begins with a struct trained, and its functions.
 */
struct trained_kind {
    size_t size;
    /* ERR_INPUT if the checkpoint is of another kind. */
    enum err_code (*load)(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e);
    const char *input; /* of an op that embeds: its first input, whose elements are records */
    /* Computes the vectors of a record. ERR_INPUT if it has another vocabulary than the checkpoint
     * (0: unknown). */
    enum err_code (*embed)(struct embedded *out, const void *network, const void *record,
                           struct digest vocabulary, struct op_ctx *ctx, struct err *e);
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

/* One computation with a network; its own struct begins with this. */
struct trained_pass {
    nn_lay_out *lay_out;
    void (*compute)(void *self, struct gpu_queue *q);
    struct arena *arena; /* working memory */
};
/* Lays out and computes the pass, on a queue and in memory of its own. */
enum err_code trained_run(const struct trained *x, void *pass, struct err *e);
