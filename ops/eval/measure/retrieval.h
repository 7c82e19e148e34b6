/* Retrieval by cosine: every vector is a query against all others. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

#include <stdbool.h>

/* What another vector is to a query: by default a positive if it is of its cluster, else a
 * negative. mark says it of all (n); the query itself is left out in any case. */
enum { RETRIEVAL_NEGATIVE, RETRIEVAL_POSITIVE, RETRIEVAL_LEFT_OUT };
struct retrieval_relation {
    void (*mark)(uint8_t *standing, const void *of, uint32_t query);
    const void *of;
};

enum { RETRIEVAL_CUTS = 5, RETRIEVAL_DEPTH = 20 };
extern const uint32_t retrieval_cuts[RETRIEVAL_CUTS]; /* 1 5 10 15 20 */

enum retrieval_divisor {
    RETRIEVAL_OTHERS,  /* min(k, positives): a cluster smaller than k can reach 1 */
    RETRIEVAL_CLUSTER, /* min(k, positives and the query), as EqNet's evaluator and SemVec count
                          score_k */
    RETRIEVAL_K,       /* k: precision proper, E-Gen's */
};
struct retrieval_options {
    const struct retrieval_relation *relation; /* NULL: clusters */
    uint32_t queries; /* the first so many vectors; the others are only found. 0: all */
    enum retrieval_divisor divisor;
};

struct retrieval {
    /* Means over the queries: |positives among the first k| / the divisor. Queries without a
     * positive are not asked. */
    double precision[RETRIEVAL_CUTS];
    double mrr; /* reciprocal of the rank of the first positive */
    /* The Search for Equations: of all triples of a query, a positive and a negative, the share
     * where the last is nearer; equals count half. */
    double ranking_error;
    uint32_t queries;
};

/* With NULL for options: positives are of the query's cluster, all vectors are queries, and the
 * positives divide. Vectors have length 1. Equal similarities are ordered by a hash of the
 * position, which favours no cluster. The same for any number of threads. If `cancelled`, which may
 * be NULL, returns true, the figures are void. */
enum err_code retrieval_measure(struct retrieval *out, struct arena *a, const struct vectors *v,
                                const struct retrieval_options *options, struct pool *pool,
                                bool (*cancelled)(void *), void *arg, struct err *e);
