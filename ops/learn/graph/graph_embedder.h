/* A trained graph network on a device of its own, for inference: read-only, so that any number of
 * threads may use it at a time. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"
#include "ops/nn/graph/graph_net.h"

struct graph_embedder;
/* ERR_INPUT if the checkpoint is of another kind of model. */
enum err_code graph_embedder_new(struct graph_embedder **out, const char *device,
                                 enum gpu_precision precision, const Eqloom__Checkpoint *c,
                                 const struct chunk_io *io, struct err *e);
void graph_embedder_free(struct graph_embedder *x);
uint32_t graph_embedder_size(const struct graph_embedder *x); /* numbers of a vector */

/* out (graphs, size): vectors of graphs, divided by the running mean and deviation of lengths, or
 * of two parts (graph_model.h). The arena serves as working memory. */
enum err_code graph_embedder_run(float *out, const struct graph_embedder *x,
                                 const struct graph_set *s, struct arena *a, struct err *e);
/* out[head] (hidden, classes of the head), in the arena: what the network takes the hidden nodes of
 * the set for, `hidden` of them, as probabilities. */
enum err_code graph_embedder_fill(float **out, const struct graph_embedder *x,
                                  const struct graph_set *s, size_t hidden, struct arena *a,
                                  struct err *e);
