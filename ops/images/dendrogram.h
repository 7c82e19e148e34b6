/* Agglomerative clustering with complete linkage. */
#pragma once

#include "ops/eval/measure/vectors.h"

struct merge {
    uint32_t left, right; /* below n: a vector; n + k: what merge k made */
    float distance;       /* 1 - the least cosine between the two sides */
};

/* n - 1 merges of n vectors of length 1, nearest first; of equal ones those of the lowest vectors.
 * Takes n^2 floats. */
struct merge *dendrogram_find(struct arena *a, const struct vectors *v);
