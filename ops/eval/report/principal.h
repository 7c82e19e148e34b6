/* The plane of the two principal components of vectors: where they vary most. */
#pragma once

#include "ops/eval/measure/vectors.h"

struct plane {
    float *x, *y;    /* of each vector, from their mean; in the arena */
    double share[2]; /* of the variance, along each */
};

/* Each component points to where its largest coefficient is positive. */
struct plane principal_plane(struct arena *a, const struct vectors *v);
