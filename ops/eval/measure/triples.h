/* The figures of The Search for Equations over all triples: an expression, another of its cluster
 * and one of another cluster, compared by the cosines s of their vectors. Its third figure, the
 * accuracy of the nearest neighbour with one left out, is retrieval's precision at 1. */
#ifndef OPS_EVAL_MEASURE_TRIPLES_H
#define OPS_EVAL_MEASURE_TRIPLES_H

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

#include <stdbool.h>

struct triples {
    double count;         /* 0: no triples, and so are the others */
    double ranking_error; /* the share of s(x, x-) > s(x, x+), equals a half */
    /* Means, unsquared and with a margin of 1, of max(0, 1 - s(x, x+) + max(s(x, x-), s(x+, x-)))
     * and of half of max(0, 1 - s(x, x+)) + max(0, 1 + s(x, x-)). */
    double hinge, siamese;
};

/* Cosines that a thread has room for: 32 MiB of them. */
enum { TRIPLES_ROOM = 1 << 23 };

/* Vectors have length 1. The same for any number of threads. Time as for all cosines, if clusters
 * have no more members than vectors have dimensions. Each thread keeps up to `room` cosines, or 16
 * of each member of the largest cluster if these are more; the last bits depend on it. `cancelled`
 * as of retrieval_measure. */
void triples_measure(struct triples *out, struct arena *a, const struct vectors *v, size_t room,
                     struct pool *pool, bool (*cancelled)(void *), void *arg);

#endif
