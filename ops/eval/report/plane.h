/* Projections of vectors onto the plane. Results are stored in the arena. */
#pragma once

#include "base/pool.h"
#include "ops/eval/measure/vectors.h"

struct plane {
    float *x, *y;    /* one per vector */
    double share[2]; /* of the variance, by axis; principal components only */
};

/* Projects on the two principal components, with the mean at the origin. The sign of each component
 * makes its largest coefficient positive. */
struct plane principal_plane(struct arena *a, const struct vectors *v);

struct tsne_options {
    double perplexity; /* effective number of neighbours; at most (n - 1) / 3 */
    uint32_t iterations;
    uint64_t seed;
};

/* Exact t-SNE (van der Maaten and Hinton 2008), which keeps near vectors near. For up to a few
 * thousand vectors of length 1. Independent of the number of threads. */
struct plane tsne_plane(struct arena *a, const struct vectors *v,
                        const struct tsne_options *options, struct pool *pool);
