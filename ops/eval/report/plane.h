/* Vectors as points in the plane, each in the arena. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

struct plane {
    float *x, *y;    /* of each vector */
    double share[2]; /* of the variance, along each; principal components alone */
};

/* By the two principal components, along which vectors vary most, from their mean. Each component
 * points to where its largest coefficient is positive. */
struct plane principal_plane(struct arena *a, const struct vectors *v);

struct tsne_options {
    double perplexity; /* how many neighbours count; reduced to (n - 1) / 3 */
    uint32_t iterations;
    uint64_t seed;
};

/* By t-SNE (van der Maaten and Hinton 2008), exact: near ones stay near. For up to a few thousand
 * vectors, of length 1. The same for any number of threads. */
struct plane tsne_plane(struct arena *a, const struct vectors *v,
                        const struct tsne_options *options, struct pool *pool);
