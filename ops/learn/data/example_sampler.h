/* Sampling of a training's examples: the k-th pair, negative or sequence is a function of the seed,
 * k and the contents of the sequences, not of their places in the dataset. Only one epoch's order
 * is held in memory. Each epoch orders clusters by a hash of (seed, epoch, mark), so a cluster that
 * is added, removed or changed leaves the order of the others, and all that is drawn before its
 * turn stays the same (op train reuses segments by that). The members drawn from a cluster are the
 * two with the smallest hashes of (seed, k, mark), so one member more or less changes few draws.
 * Equal contents are told apart by place. All orders and pairs are equally likely. */
#pragma once

#include "ops/learn/data/dataset.h"

#include <stdbool.h>

/* An epoch's order of things. */
struct epoch_order {
    struct epoch_place {
        uint64_t key;
        uint32_t item;
    } * places; /* heap; NULL: none yet */
    uint64_t epoch;
};

struct example_sampler {
    const struct dataset *dataset; /* must outlive this, and not change */
    uint64_t seed;
    size_t batch;                        /* so many consecutive k belong together */
    struct epoch_order pairs, negatives; /* of the epochs asked for last */
    uint64_t *pairs_upto; /* (clusters) with example_sampler_by_pairs: heap; pairs up to each */
};

/* Zeroed memory, so far. */
void example_sampler_init(struct example_sampler *x, const struct dataset *d, uint64_t seed,
                          size_t batch);
void example_sampler_free(struct example_sampler *x);
/* From now on clusters do not come in turn: each is as likely as it has ordered pairs of members,
 * of which at most so many count. Draws then depend on the clusters' places. */
void example_sampler_by_pairs(struct example_sampler *x, uint64_t most);

struct pair {
    uint32_t cluster, a, b; /* a, b: sequences, two different members of the cluster */
};

/* The k-th pair. Clusters come in a random order without repetition, a new order each epoch; if
 * there are at least `batch` of them no batch has two pairs of one cluster. The dataset must have a
 * cluster; with related ones `batch` is a multiple of `related`. */
struct pair example_sampler_pair(struct example_sampler *x, uint64_t k);
/* Negative number j < n of the k-th pair: a sequence of another cluster. The dataset must have two;
 * n is the same in all calls. */
uint32_t example_sampler_negative(struct example_sampler *x, uint32_t cluster, uint64_t k,
                                  uint64_t j, uint64_t n);
/* Draws for expression k of all steps, which is this sequence, whether it brings a near miss along,
 * a `share` of the time, and which. False if not, or if it has none. */
bool example_sampler_near_miss(uint32_t *out, const struct example_sampler *x, uint32_t sequence,
                               uint64_t k, double share);
/* The k-th sequence alone, in a random order as that of clusters; those that stand alone count. Not
 * beside example_sampler_pair. */
uint32_t example_sampler_sequence(struct example_sampler *x, uint64_t k);
