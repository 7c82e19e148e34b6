/* A step's examples for a graph network: the graphs of a batch of triplets, each with the names of
 * its identifiers exchanged and some nodes hidden. A function of the seed and the batch's number.
 */
#pragma once

#include "base/rng.h"
#include "ops/learn/graph/graph_sampler.h"

struct graph_examples_config {
    size_t batch;   /* triplets */
    double swaps;   /* expected exchanges of two characters in <mi> nodes, of each graph; 0: none */
    double hidden;  /* share of nodes; at least one of each graph; 0: none */
    int identifier; /* the tag of <mi>; -1: the alphabet has none */
    uint64_t seed;
};

/* Hides so many nodes of a graph, at least one; returns how many. n > 0. */
size_t graph_hide(struct graph_vertex *v, size_t n, double share, struct rng r);
/* Anchors, their positives, their negatives, in the arena. */
void graph_examples_draw(struct graph_set *out, struct arena *a, struct graph_sampler *sampler,
                         const struct graph_examples_config *c, uint64_t index);
