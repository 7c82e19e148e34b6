/* t-SNE (van der Maaten and Hinton 2008), exact: a picture of vectors in the plane in which near
 * ones stay near. For up to a few thousand points. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

struct tsne_options {
    double perplexity; /* how many neighbours count; reduced to (n - 1) / 3 */
    uint32_t iterations;
    uint64_t seed;
};

/* x and y, each of v->n, in the arena. Vectors have length 1. The same for any number of threads.
 */
void tsne(float **x, float **y, struct arena *a, const struct vectors *v,
          const struct tsne_options *options, struct pool *pool);
