/* Triplets of equations to compare: an anchor, one that stands near it, and one of another paper.
 *
 * What the k-th one is follows from the seed, k and the contents of papers and graphs, not from
 * their places. The way in which anchor and positive belong together is drawn by the given shares,
 * among the ways that the corpus has. For each way the equations that have such a pair come in a
 * random order, a new one each epoch; so do negatives. An equation that comes or goes leaves the
 * order of the others. */
#pragma once

#include "base/rng.h"
#include "ops/learn/graph/graph_corpus.h"

enum graph_way { GRAPH_SAME_SECTION, GRAPH_SAME_PAPER, GRAPH_CITED, GRAPH_WAYS };

/* Graphs in the order of an epoch. */
struct graph_turns {
    struct graph_turn {
        uint64_t key;
        uint32_t graph;
    } * turns;
    size_t n;
    uint64_t epoch;
    bool sorted;
};

struct graph_sampler {
    const struct graph_corpus *corpus; /* closed; must outlive this */
    uint64_t seed;
    double up_to[GRAPH_WAYS];                /* sums of shares, to 1 */
    struct graph_turns ways[GRAPH_WAYS + 1]; /* the last: of negatives */
};

/* Zeroed memory, so far. ERR_INPUT if there are not two papers, or no pair in any way that has a
 * share; `role` names the input. */
enum err_code graph_sampler_init(struct graph_sampler *x, const struct graph_corpus *c,
                                 const double shares[GRAPH_WAYS], uint64_t seed, const char *role,
                                 struct err *e);
void graph_sampler_free(struct graph_sampler *x);

struct graph_triplet {
    uint32_t anchor, positive, negative; /* graphs */
    enum graph_way way;
};
struct graph_triplet graph_sampler_draw(struct graph_sampler *x, uint64_t k);

/* A step's examples for a graph network: the graphs of a batch of triplets, each with the names of
 * its identifiers exchanged and some nodes hidden. A function of the seed and the batch's number.
 */
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
