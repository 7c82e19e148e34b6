/* What a step learns from: batches of examples drawn from a dataset, each a function of the seed
 * and its number, so that nothing is materialised.
 *
 *   contrastive  pairs of different members of a cluster; every vector of another cluster in the
 *                batch is a negative, and so are near misses that a share of these bring along; or,
 *                with own negatives, so many drawn for each pair
 *   simcse       one sequence twice, told apart by dropout alone; all others are negatives
 *   triplet      a pair and negatives of its own; so siamese
 *   histogram    as contrastive
 *   seq2seq      a member as input and a different one of its cluster as target
 *   autoencode   a sequence as input and target
 *
 * The second of a pair is any other member of the cluster, or always its shortest. */
#pragma once

#include "ops/learn/data/example_sampler.h"
#include "ops/nn/tape.h"

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

/* Whether it teaches a decoder. */
bool objective_generates(enum objective_kind kind);

enum target_kind { TARGET_ANY, TARGET_SHORTEST };

struct examples_config {
    enum objective_kind objective;
    enum target_kind target; /* of pairs: which is the second */
    size_t batch;            /* examples */
    double near_misses;      /* contrastive: share of a batch's expressions that bring one along */
    uint64_t class_pairs;    /* pairs: how many of a cluster count; 0: clusters come in turn */
    size_t negatives;        /* of each example's own; 0: those of the batch (contrastive,
                              * histogram) */
};

struct examples {
    /* seq2seq: the inputs. Else anchors, their positives, their negatives (those of the first
     * anchor first) or near misses. */
    struct nn_sequences inputs;
    /* Contrastive: of each input, which are no negatives of each other; with own negatives, whose
     * they are. */
    const uint32_t *group;
    struct nn_sequences targets; /* seq2seq: one per input, without start and end */
};

/* Batch number `index` of what is drawn for batches of c->batch. Lives in the arena; `wrap` puts
 * inputs between start and end tokens. */
void examples_gather(struct examples *out, struct arena *a, struct example_sampler *sampler,
                     const struct examples_config *c, bool wrap, uint64_t index);
