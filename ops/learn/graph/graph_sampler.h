/* Samples triplets of equations: an anchor, a related one, and one of another paper.
 *
 * The k-th triplet depends on the seed, k and the contents of papers and graphs, not on their
 * indices. The relation (`way`) between anchor and positive is drawn by the given shares, among
 * those that occur in the corpus. For each relation the equations that have such a pair come in a
 * random order, new in each epoch; so do negatives. Adding or removing an equation does not change
 * the order of the others. */
#pragma once

#include "base/rng.h"
#include "ops/learn/data/epoch_order.h"
#include "ops/learn/graph/graph_corpus.h"

enum graph_way { GRAPH_SAME_SECTION, GRAPH_SAME_PAPER, GRAPH_CITED, GRAPH_WAYS };

struct graph_sampler {
    const struct graph_corpus *corpus; /* closed; must outlive the sampler */
    uint64_t seed;
    double up_to[GRAPH_WAYS];                /* cumulative shares, up to 1 */
    struct epoch_order ways[GRAPH_WAYS + 1]; /* the last for negatives */
};

/* *x must be zeroed. ERR_INPUT if there are fewer than two papers, or no pair in any relation with
 * a share; `role` names the input. */
enum err_code graph_sampler_init(struct graph_sampler *x, const struct graph_corpus *c,
                                 const double shares[GRAPH_WAYS], uint64_t seed, const char *role,
                                 struct err *e);
void graph_sampler_free(struct graph_sampler *x);

struct graph_triplet {
    uint32_t anchor, positive, negative; /* graphs */
    enum graph_way way;
};
struct graph_triplet graph_sampler_draw(struct graph_sampler *x, uint64_t k);

/* The examples of a step: the graphs of a batch of triplets, each with some identifiers renamed and
 * some nodes hidden. A function of the seed and the batch's number. */
struct graph_examples_config {
    size_t batch;   /* triplets */
    double swaps;   /* expected swaps of two characters in a graph's <mi> nodes; 0 for none */
    double hidden;  /* share of nodes, at least one per graph; 0 for none */
    int identifier; /* the tag of <mi>; -1 if the alphabet has none */
    uint64_t seed;
};

/* Hides this share of a graph's n > 0 nodes, at least one; returns how many. */
size_t graph_hide(struct graph_vertex *v, size_t n, double share, struct rng r);
/* Draws anchors, their positives and their negatives into the arena. */
void graph_examples_draw(struct graph_set *out, struct arena *a, struct graph_sampler *sampler,
                         const struct graph_examples_config *c, uint64_t index);
