/* The data of a training: all sequences of a collection of token batches,
 * grouped into clusters of equivalent ones. */
#pragma once

#include "base/err.h"
#include "token.pb-c.h"

#include <stdint.h>

struct dataset {
    uint32_t *tokens;
    size_t n_tokens, tokens_cap;
    size_t *offset; /* (sequences + 1) */
    size_t sequences, offset_cap;
    /* By which sequences are drawn: a hash of the tokens (of equal members of a cluster, and of how
     * many of these come before). */
    uint64_t *mark; /* (sequences) */
    size_t mark_cap;
    /* Cluster i is the sequences member[first[i]] .. member[first[i+1]-1]; each has at least two:
     * single sequences are left out. */
    uint32_t *member;
    size_t members, member_cap;
    size_t *first; /* (clusters + 1) */
    size_t clusters, first_cap;
    size_t singles; /* sequences left out */
    /* Near misses by the marks of what they were altered from, then by their own. */
    struct near_miss_of {
        uint64_t of, mark;
        uint32_t sequence;
    } * near_misses;
    size_t n_near_misses, near_miss_cap;
    /* With dataset_relate: pairs come in runs of clusters that stand together on this path. */
    uint32_t *path; /* (clusters), or NULL */
    size_t related; /* clusters in a run */
};

void dataset_free(struct dataset *d);
/* Checks the batch (ERR_CORRUPT if it is not well formed, ERR_INPUT for a token that is not below
 * `vocabulary`, ERR_LIMIT for a sequence longer than max_length) and adds its clusters. */
enum err_code dataset_add(struct dataset *d, const Eqloom__TokenBatch *batch, uint32_t vocabulary,
                          uint32_t max_length, struct err *e);
/* Adds near misses: sequences 2i + 1 of the batch, each of the sequence before it. The same checks,
 * and ERR_INPUT for an odd number of sequences. They belong to no cluster. */
enum err_code dataset_add_near_misses(struct dataset *d, const Eqloom__TokenBatch *batch,
                                      uint32_t vocabulary, uint32_t max_length, struct err *e);
/* After all of these. */
void dataset_order_near_misses(struct dataset *d);
/* The near misses of a sequence: *n from the result on. */
const struct near_miss_of *dataset_near_misses(size_t *n, const struct dataset *d,
                                               uint32_t sequence);
/* The same checks alone. */
enum err_code token_batch_check(const Eqloom__TokenBatch *batch, uint32_t vocabulary,
                                uint32_t max_length, struct err *e);

/* From now on `related` consecutive pairs are of clusters whose members use much the same tokens,
 * next to each other on a greedy path through all of them: hard negatives for each other. Call
 * after all dataset_add; tokens are below `vocabulary`. */
void dataset_relate(struct dataset *d, size_t related, uint32_t vocabulary);

/* The cluster's member of fewest tokens, of equal ones the first by their numbers. */
uint32_t dataset_shortest(const struct dataset *d, uint32_t cluster);
