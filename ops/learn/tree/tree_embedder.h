/* A trained network on trees on a device of its own, for inference: read-only, so that any number
 * of threads may use it at a time. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/learn/tree/tree_points.h"
#include "ops/nn/tree/tree_net.h"

struct tree_embedder;
/* ERR_INPUT if the checkpoint is of another kind of model. */
enum err_code tree_embedder_new(struct tree_embedder **out, const char *device,
                                enum gpu_precision precision, const Eqloom__Checkpoint *c,
                                const struct chunk_io *io, struct err *e);
void tree_embedder_free(struct tree_embedder *x);
const struct tree_model *tree_embedder_model(const struct tree_embedder *x);

/* out (trees, tree_width): vectors of length 1. `meaning` of tokens is read if the network has
 * inputs. The arena serves as working memory. */
enum err_code tree_embedder_run(float *out, const struct tree_embedder *x, const struct tree_set *s,
                                const struct tree_meaning *meaning, struct arena *a, struct err *e);
