/* A trained graph network, for inference. */
#pragma once

#include "ops/learn/infer/trained.h"
#include "ops/nn/graph/graph_net.h"

struct graph_embedder;
extern const struct trained_kind graph_embedder_kind;
uint32_t graph_embedder_size(const struct graph_embedder *x); /* dimension of a vector */

/* Computes out (graphs, size): the graphs' vectors, divided by the running mean and deviation of
 * lengths, or with two parts (graph_model.h). Uses the arena as working memory. */
enum err_code graph_embedder_run(float *out, const struct graph_embedder *x,
                                 const struct graph_set *s, struct arena *a, struct err *e);
/* Computes out[head] (hidden, classes of the head), in the arena: the network's predictions for the
 * `hidden` hidden nodes of the set, as probabilities. */
enum err_code graph_embedder_fill(float **out, const struct graph_embedder *x,
                                  const struct graph_set *s, size_t hidden, struct arena *a,
                                  struct err *e);
