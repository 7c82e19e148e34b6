/* The losses of The Search for Equations over all triples: an expression x, another x+ of its
 * cluster and x- of another cluster, compared by the cosines s of their vectors. The paper's
 * ranking error and accuracy are in retrieval.h. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

#include <stdbool.h>

struct triples {
    double count; /* 0: there are no triples, and both losses are 0 */
    /* Means, unsquared and with a margin of 1, of max(0, 1 - s(x, x+) + max(s(x, x-), s(x+, x-)))
     * and of half of max(0, 1 - s(x, x+)) + max(0, 1 + s(x, x-)). */
    double hinge, siamese;
};

/* The usual number of cosines that a thread stores: 32 MiB. */
enum { TRIPLES_ROOM = 1 << 23 };

/* Vectors have length 1. The result does not depend on the number of threads. Each thread stores up
 * to `room` cosines, at least 16 for each member of the largest cluster; the last bits depend on
 * `room`. If `cancelled`, which may be NULL, returns true, the losses are invalid. */
void triples_measure(struct triples *out, struct arena *a, const struct vectors *v, size_t room,
                     struct pool *pool, bool (*cancelled)(void *), void *arg);
