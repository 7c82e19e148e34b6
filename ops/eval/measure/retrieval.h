/* Retrieval by cosine: every vector is a query against all others. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

#include <stdbool.h>

/* The relation of another vector to a query: by default a positive if it is in the same cluster,
 * else a negative. mark() sets it for all n vectors; the query itself is always left out. */
enum { RETRIEVAL_NEGATIVE, RETRIEVAL_POSITIVE, RETRIEVAL_LEFT_OUT };
struct retrieval_relation {
    void (*mark)(uint8_t *standing, const void *of, uint32_t query);
    const void *of;
};

enum { RETRIEVAL_CUTS = 5, RETRIEVAL_DEPTH = 20 };
extern const uint32_t retrieval_cuts[RETRIEVAL_CUTS]; /* 1 5 10 15 20 */

enum retrieval_divisor {
    RETRIEVAL_OTHERS,  /* min(k, positives): clusters smaller than k can reach 1 */
    RETRIEVAL_CLUSTER, /* min(k, positives + 1), as in EqNet's and SemVec's score_k */
    RETRIEVAL_K,       /* k: the usual precision, as in E-Gen */
};
struct retrieval_options {
    const struct retrieval_relation *relation; /* NULL: clusters */
    uint32_t queries; /* only the first vectors are queries, this many; 0: all */
    enum retrieval_divisor divisor;
};

struct retrieval {
    /* Means over the queries of |positives among the first k| / divisor. Queries without a positive
     * are skipped. */
    double precision[RETRIEVAL_CUTS];
    double mrr; /* reciprocal of the rank of the first positive */
    /* The Search for Equations: of all triples of a query, a positive and a negative, the share in
     * which the negative is nearer; ties count half. */
    double ranking_error;
    uint32_t queries;
};

/* If options is NULL, positives are in the query's cluster, all vectors are queries, and the
 * divisor is RETRIEVAL_OTHERS. Vectors have length 1. Ties are ordered by a hash of the position,
 * which favours no cluster. Independent of the number of threads. If `cancelled`, which may be
 * NULL, returns true, the figures are invalid. */
enum err_code retrieval_measure(struct retrieval *out, struct arena *a, const struct vectors *v,
                                const struct retrieval_options *options, struct pool *pool,
                                bool (*cancelled)(void *), void *arg, struct err *e);
