/* Memory of a device for the tensors of a batch, laid out twice: once to measure them, once to
 * place them. */
#pragma once

#include "base/arena.h"
#include "gpu/gpu.h"

/* It grows, losing its contents. The owner frees it with nn_buffer_free. */
struct nn_buffer {
    struct gpu_device *device;
    void *at;
    size_t size;
};
void nn_buffer_free(struct nn_buffer *m);
/* Grows to at least `bytes`, for a batch of n examples: for a card, the message of ERR_NOMEM tells
 * how many would fit, unless n is 0. */
enum err_code nn_buffer_reserve(struct nn_buffer *m, size_t bytes, size_t n, struct err *e);

/* The inputs of a batch: device memory, and the host memory that is copied there at once. */
struct nn_block {
    char *device, *host;
    size_t bytes;
};
struct nn_block nn_block_new(size_t bytes, struct arena *a);
/* Returns the host address that corresponds to a device address. */
static inline void *nn_host(const struct nn_block *b, const void *device)
{
    return b->host + ((const char *)device - b->device);
}

/* Carves the tensors of `arg`: those of the batch's inputs from `in`, the others from `l`. */
typedef void nn_lay_out(void *arg, struct gpu_layout *in, struct gpu_layout *l);
/* Calls it twice, the second time in the memory; *block (unless NULL) is for the inputs, with host
 * memory in the arena. */
enum err_code nn_buffer_lay_out(struct nn_block *block, struct nn_buffer *m, size_t n,
                                nn_lay_out *lay_out, void *arg, struct arena *a, struct err *e);
