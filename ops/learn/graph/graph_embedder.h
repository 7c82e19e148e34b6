/* A trained graph network, for inference. */
#pragma once

#include "ops/learn/infer/network.h"
#include "ops/nn/graph/graph_net.h"

struct graph_embedder;
extern const struct network_kind graph_embedder_kind;
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
