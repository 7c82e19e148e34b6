/* What a training draws from a dataset: the k-th pair, negative or sequence is a function of the
 * seed, k and what the sequences say; no more than an epoch's order is held, and where they stand
 * in the dataset does not matter. Each epoch has an order of its own, by hash of (seed, epoch,
 * mark), so that a cluster which is added, removed or changed leaves the others in the order in
 * which they were: what is drawn before its turn stays (op train proves segments by that). Of a
 * cluster the members are drawn whose hashes of (seed, k, mark) are least, so that one member more
 * or less changes few draws. Of things that say the same, which is which goes by where they stand.
 * Either way every order and every pair is as likely as any other. */
#ifndef OPS_LEARN_DATA_EXAMPLE_SAMPLER_H
#define OPS_LEARN_DATA_EXAMPLE_SAMPLER_H

#include "ops/learn/data/dataset.h"

/* An epoch's order of things. */
struct epoch_order {
    struct epoch_place {
        uint64_t key;
        uint32_t thing;
    } * places; /* heap; NULL: none yet */
    uint64_t epoch;
};

struct example_sampler {
    const struct dataset *dataset; /* must outlive this, and not change */
    uint64_t seed;
    size_t batch;                        /* so many consecutive k belong together */
    struct epoch_order pairs, negatives; /* of the epochs asked for last */
};

/* Zeroed memory, so far. */
void example_sampler_init(struct example_sampler *x, const struct dataset *d, uint64_t seed,
                          size_t batch);
void example_sampler_free(struct example_sampler *x);

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
/* The k-th sequence alone, in a random order as that of clusters; those that stand alone count. Not
 * beside example_sampler_pair. */
uint32_t example_sampler_sequence(struct example_sampler *x, uint64_t k);

#endif
