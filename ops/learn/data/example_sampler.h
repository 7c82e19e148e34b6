/* Samples a training's examples: the k-th pair, negative or sequence is a function of the seed, k
 * and the contents of the sequences, not of their indices in the dataset. Only one epoch's order is
 * kept in memory. Each epoch orders clusters by a hash of (seed, epoch, mark), so adding, removing
 * or changing a cluster does not affect the order of the others, nor what is drawn before its turn
 * (op train reuses segments because of this). The members drawn from a cluster are the two with the
 * smallest hashes of (seed, k, mark), so adding or removing a member changes few draws. Sequences
 * with equal contents are distinguished by index. All orders and pairs are equally likely. */
#pragma once

#include "ops/learn/data/dataset.h"
#include "ops/learn/data/epoch_order.h"

#include <stdbool.h>

struct example_sampler {
    const struct dataset *dataset; /* must outlive the sampler, unchanged */
    uint64_t seed;
    size_t batch;                        /* consecutive k that form a batch */
    struct epoch_order pairs, negatives; /* of the epochs used last */
    uint64_t *pairs_upto; /* (clusters), owned, with example_sampler_by_pairs: pairs up to each
                           * one */
};

/* *x must be zeroed. */
void example_sampler_init(struct example_sampler *x, const struct dataset *d, uint64_t seed,
                          size_t batch);
void example_sampler_free(struct example_sampler *x);
/* Draws each cluster with a probability proportional to its number of ordered pairs of members, at
 * most `most`, instead of in turn. Draws then depend on the clusters' indices. */
void example_sampler_by_pairs(struct example_sampler *x, uint64_t most);

struct pair {
    uint32_t cluster, a, b; /* a, b: different sequences of the cluster */
};

/* Returns the k-th pair. Each epoch has a new random order of clusters, without repetition; if
 * there are at least `batch` of them, no batch has two pairs of one cluster. The dataset must have
 * a cluster; with related ones `batch` is a multiple of `related`. */
struct pair example_sampler_pair(struct example_sampler *x, uint64_t k);
/* Returns negative j < n of the k-th pair: a sequence of another cluster. The dataset must have two
 * clusters; n is the same in all calls. */
uint32_t example_sampler_negative(struct example_sampler *x, uint32_t cluster, uint64_t k,
                                  uint64_t j, uint64_t n);
/* Decides for expression k of all steps, which is this sequence, whether it brings a near miss into
 * the batch, with probability `share`, and draws it. Returns false if not, or if it has none. */
bool example_sampler_near_miss(uint32_t *out, const struct example_sampler *x, uint32_t sequence,
                               uint64_t k, double share);
/* Returns the k-th single sequence, in random order as for clusters; includes sequences without a
 * cluster. Must not be mixed with example_sampler_pair. */
uint32_t example_sampler_sequence(struct example_sampler *x, uint64_t k);
