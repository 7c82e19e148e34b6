/* The graph network and its losses once more, node by node, in double precision. */
#pragma once

#include "ops/learn/graph/graph_similarity.h"
#include "ops/nn/graph/graph_lists.h"

/* The loss on triplets; running statistics in w where not `training`. */
double ref_graph_loss(const struct graph_model *m, const double *w, const struct graph_set *s,
                      enum graph_similarity kind, double margin, bool training);
