/* What training draws from: all sequences of a collection of token batches, grouped
 * into clusters of equivalent ones. Pairs are never materialised: the k-th pair is a function of
 * the seed and k. */
#ifndef OPS_LEARN_DATASET_H
#define OPS_LEARN_DATASET_H

#include "base/err.h"
#include "token.pb-c.h"

#include <stddef.h>
#include <stdint.h>

struct dataset {
    uint32_t *tokens;
    size_t n_tokens, tokens_cap;
    size_t *offset; /* (sequences + 1) */
    size_t sequences, offset_cap;
    /* Cluster i is the sequences member[first[i]] .. member[first[i+1]-1]; each has at least two:
     * what stands alone is left out. */
    uint32_t *member;
    size_t members, member_cap;
    size_t *first; /* (clusters + 1) */
    size_t clusters, first_cap;
    size_t singles; /* sequences left out */
    /* With dataset_relate: pairs come in runs of clusters that stand together on this path. */
    uint32_t *path; /* (clusters), or NULL */
    size_t related; /* clusters in a run */
};

void dataset_free(struct dataset *d);
/* Checks the batch (ERR_CORRUPT if it is not well formed, ERR_INPUT for a token that is not below
 * `vocabulary`, ERR_LIMIT for a sequence longer than max_length) and adds its clusters. */
enum err_code dataset_add(struct dataset *d, const Eqloom__TokenBatch *batch, uint32_t vocabulary,
                          uint32_t max_length, struct err *e);
/* The same checks alone. */
enum err_code token_batch_check(const Eqloom__TokenBatch *batch, uint32_t vocabulary,
                                uint32_t max_length, struct err *e);

/* From now on `related` consecutive pairs are of clusters whose members use much the same tokens,
 * next to each other on a greedy path through all of them: hard negatives for each other. Call
 * after all dataset_add; tokens are below `vocabulary`. ERR_NOMEM. */
enum err_code dataset_relate(struct dataset *d, size_t related, uint32_t vocabulary, struct err *e);

struct pair {
    uint32_t cluster, a, b; /* a, b: sequences, two different members of the cluster */
};

/* The k-th pair, for batches of `batch` consecutive k. Clusters come in a random order without
 * repetition, a new order each epoch; if there are at least `batch` of them no batch has two pairs
 * of one cluster. The dataset must have a cluster; with related ones `batch` is a multiple of
 * `related`. */
struct pair dataset_pair(const struct dataset *d, uint64_t seed, size_t batch, uint64_t k);
/* Negative number j of the k-th pair: a sequence of another cluster. The dataset must have two. */
uint32_t dataset_negative(const struct dataset *d, uint64_t seed, uint32_t cluster, uint64_t k,
                          uint64_t j);
/* The cluster's member of fewest tokens, of equal ones the first by their numbers. */
uint32_t dataset_shortest(const struct dataset *d, uint32_t cluster);
/* The k-th sequence alone, in a random order as that of clusters; those that stand alone count. */
uint32_t dataset_sequence(const struct dataset *d, uint64_t seed, size_t batch, uint64_t k);

#endif
