/* K-means as in scikit-learn: greedy k-means++ seeding, Lloyd's iterations, several starts. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

#include <stdbool.h>

struct kmeans_options {
    uint32_t k, restarts, max_iterations;
    uint64_t seed;
    bool (*cancelled)(void *arg); /* may be NULL */
    void *arg;
};

struct kmeans {
    uint32_t *label;     /* of each vector, in the arena */
    double cost;         /* sum of squared distances to the nearest centre */
    uint32_t iterations; /* of the start with the lowest cost */
};

/* Returns the start with the lowest cost. Independent of the number of threads. May fail with
 * ERR_CANCELLED. */
enum err_code kmeans(struct kmeans *out, struct arena *a, const struct vectors *v,
                     const struct kmeans_options *options, struct pool *pool, struct err *e);
