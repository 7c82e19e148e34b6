/* The rows nearest to a vector: exactly, by a pass over all, or by an approximate index. */
#pragma once

#include "ops/eval/measure/vectors.h"
#include "ops/latex/study/hnsw.h"

/* Rows that are left out: those of one group. */
struct nearest_but {
    const uint32_t *group; /* by row */
    uint32_t but;
};

/* At most k of the corpus, nearest first, equal ones by row; returns how many. The query is a
 * vector of the same stride. `index` and `but` may be NULL; an index finds k and gives what is left
 * of them. */
size_t nearest_find(struct neighbour *out, size_t k, const struct vectors *corpus,
                    const struct hnsw *index, const struct nearest_but *but, const float *query,
                    struct arena *a);
/* How many of the first list are in the second. */
size_t nearest_shared(const struct neighbour *x, size_t n, const struct neighbour *y, size_t m);
