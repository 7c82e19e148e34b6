/* Retrieval by cosine: every vector is a query against all others. */
#ifndef OPS_EVAL_MEASURE_RETRIEVAL_H
#define OPS_EVAL_MEASURE_RETRIEVAL_H

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

#include <stdbool.h>

enum { RETRIEVAL_CUTS = 5, RETRIEVAL_DEPTH = 20 };
extern const uint32_t retrieval_cuts[RETRIEVAL_CUTS]; /* 1 5 10 15 20 */

struct retrieval {
    /* Means over the queries. precision at k is |first k in the query's cluster| / min(k, size -
     * 1): a cluster smaller than k can reach 1. Queries alone in their cluster are not asked. */
    double precision[RETRIEVAL_CUTS];
    double mrr; /* reciprocal of the rank of the first of the same cluster */
    /* The Search for Equations: of all triples of a query, another of its cluster and one of
     * another cluster, the share where the last is nearer; equals count half. */
    double ranking_error;
    uint32_t queries;
};

/* Vectors have length 1. Equal similarities are ordered by a hash of the position, which favours no
 * cluster. The same for any number of threads. If `cancelled`, which may be NULL,
 * returns true, the figures are void. */
enum err_code retrieval_measure(struct retrieval *out, struct arena *a, const struct vectors *v,
                                struct pool *pool, bool (*cancelled)(void *), void *arg,
                                struct err *e);

#endif
