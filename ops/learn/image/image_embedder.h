/* A trained network on images on a device of its own, for inference: read-only, so that any number
 * of threads may use it at a time. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/nn/image/image_net.h"

struct image_embedder;
/* ERR_INPUT if the checkpoint is of another kind of model. */
enum err_code image_embedder_new(struct image_embedder **out, const char *device,
                                 enum gpu_precision precision, const Eqloom__Checkpoint *c,
                                 const struct chunk_io *io, struct err *e);
void image_embedder_free(struct image_embedder *x);

/* out (n, IMAGE_VECTOR): vectors x / (|x| + 1e-5) of pixels (n, IMAGE_PIXELS). The arena serves as
 * working memory. */
enum err_code image_embedder_run(float *out, const struct image_embedder *x, const uint8_t *pixels,
                                 size_t n, struct arena *a, struct err *e);
