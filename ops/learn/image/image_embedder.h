/* A trained network on images, for inference. */
#pragma once

#include "ops/learn/infer/network.h"
#include "ops/nn/image/image_net.h"

struct image_embedder;
extern const struct network_kind image_embedder_kind;

/* out (n, IMAGE_VECTOR): vectors x / (|x| + 1e-5) of pixels (n, IMAGE_PIXELS). The arena serves as
 * working memory. */
enum err_code image_embedder_run(float *out, const struct image_embedder *x, const uint8_t *pixels,
                                 size_t n, struct arena *a, struct err *e);
