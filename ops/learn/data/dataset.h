/* The data of a training: all sequences of a collection of token batches, grouped into clusters of
 * equivalent ones. */
#pragma once

#include "base/err.h"
#include "token.pb-c.h"

#include <stdint.h>

struct dataset {
    uint32_t *tokens;
    size_t n_tokens, tokens_cap;
    size_t *offset; /* (sequences + 1) */
    size_t sequences, offset_cap;
    /* The key by which sequences are drawn: a hash of the tokens (and for equal members of a
     * cluster, of the number of earlier ones). */
    uint64_t *mark; /* (sequences) */
    size_t mark_cap;
    /* Cluster i is the sequences member[first[i]] .. member[first[i+1]-1]. Each has at least two:
     * single sequences are left out. */
    uint32_t *member;
    size_t members, member_cap;
    size_t *first; /* (clusters + 1) */
    size_t clusters, first_cap;
    size_t singles; /* sequences left out */
    /* Near misses, sorted by the mark of the sequence from which they were altered, then by their
     * own. */
    struct near_miss_of {
        uint64_t of, mark;
        uint32_t sequence;
    } * near_misses;
    size_t n_near_misses, near_miss_cap;
    /* With dataset_relate: pairs are drawn in runs of clusters that are adjacent on this path. */
    uint32_t *path; /* (clusters), or NULL */
    size_t related; /* clusters in a run */
};

void dataset_free(struct dataset *d);
/* Checks the batch and adds its clusters. ERR_CORRUPT if it is not well formed, ERR_INPUT for a
 * token >= `vocabulary`, ERR_LIMIT for a sequence longer than max_length. */
enum err_code dataset_add(struct dataset *d, const Eqloom__TokenBatch *batch, uint32_t vocabulary,
                          uint32_t max_length, struct err *e);
/* Adds near misses: sequence 2i + 1 of the batch is a near miss of sequence 2i. Makes the same
 * checks, and ERR_INPUT for an odd number of sequences. Near misses belong to no cluster. */
enum err_code dataset_add_near_misses(struct dataset *d, const Eqloom__TokenBatch *batch,
                                      uint32_t vocabulary, uint32_t max_length, struct err *e);
/* Sorts the near misses; call after the last one was added. */
void dataset_order_near_misses(struct dataset *d);
/* Returns the first of the *n near misses of a sequence. */
const struct near_miss_of *dataset_near_misses(size_t *n, const struct dataset *d,
                                               uint32_t sequence);
/* Makes the same checks without adding anything. */
enum err_code token_batch_check(const Eqloom__TokenBatch *batch, uint32_t vocabulary,
                                uint32_t max_length, struct err *e);

/* Makes runs of `related` consecutive pairs come from clusters whose members use similar tokens,
 * adjacent on a greedy path through all clusters: hard negatives for each other. Call after the
 * last dataset_add; tokens are below `vocabulary`. */
void dataset_relate(struct dataset *d, size_t related, uint32_t vocabulary);

/* Returns the cluster's member with the fewest tokens; among those the first by token numbers. */
uint32_t dataset_shortest(const struct dataset *d, uint32_t cluster);
