/* The training batches: examples drawn from a dataset, each a function of the seed and its number,
 * so that nothing is materialised.
 *
 *   contrastive  pairs of different members of a cluster; the negatives are all vectors of other
 *                clusters in the batch, and near misses of some of its expressions; or, with
 *                `negatives`, so many drawn for each pair
 *   simcse       one sequence twice, under different dropout; all others are negatives
 *   triplet      a pair and its own negatives; also siamese
 *   histogram    as contrastive
 *   seq2seq      a member as input and a different one of its cluster as target
 *   autoencode   a sequence as input and target
 *
 * The second of a pair is any other member of the cluster, or always its shortest. */
#pragma once

#include "ops/learn/data/example_sampler.h"
#include "ops/nn/transformer/tape.h"

enum objective_kind {
    OBJECTIVE_CONTRASTIVE,
    OBJECTIVE_SIMCSE,
    OBJECTIVE_TRIPLET,
    OBJECTIVE_SIAMESE,
    OBJECTIVE_HISTOGRAM,
    OBJECTIVE_SEQ2SEQ,
    OBJECTIVE_AUTOENCODE,
};
#define OBJECTIVE_NAMES "contrastive|simcse|triplet|siamese|histogram|seq2seq|autoencode"

/* Returns true if the objective trains a decoder. */
bool objective_generates(enum objective_kind kind);

enum target_kind { TARGET_ANY, TARGET_SHORTEST };

struct examples_config {
    enum objective_kind objective;
    enum target_kind target; /* the second member of a pair */
    size_t batch;            /* examples */
    double near_misses;      /* contrastive: share of a batch's expressions with a near miss in the
                              * batch */
    uint64_t class_pairs;    /* pairs: maximum counted per cluster; 0: clusters come in turn */
    size_t negatives;        /* drawn for each example; 0: those of the batch (contrastive,
                              * histogram) */
};

struct examples {
    /* seq2seq: the inputs. Else anchors, their positives, then their negatives (those of the first
     * anchor first) or near misses. */
    struct nn_sequences inputs;
    /* Contrastive, for each input: those of a group are not negatives of each other; with own
     * negatives, the anchor that they belong to. */
    const uint32_t *group;
    struct nn_sequences targets; /* seq2seq: one per input, without start and end */
};

/* Draws batch `index` of batches of c->batch examples into the arena; `wrap` adds start and end
 * tokens to inputs. */
void examples_gather(struct examples *out, struct arena *a, struct example_sampler *sampler,
                     const struct examples_config *c, bool wrap, uint64_t index);
