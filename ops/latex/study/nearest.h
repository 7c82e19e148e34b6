/* Nearest rows to a vector, by an exact scan or an approximate index. */
#pragma once

#include "ops/eval/measure/vectors.h"
#include "ops/latex/study/hnsw.h"

/* Excludes the rows of one group. */
struct nearest_exclude {
    const uint32_t *group; /* by row */
    uint32_t excluded;
};

/* Finds at most k rows of the corpus, nearest first and ties by row; returns their number. The
 * query has the corpus's stride. `index` and `exclude` may be NULL. With an index, rows are
 * excluded from the k that it finds, so fewer may remain. */
size_t nearest_find(struct neighbour *out, size_t k, const struct vectors *corpus,
                    const struct hnsw *index, const struct nearest_exclude *exclude,
                    const float *query, struct arena *a);
/* Returns how many rows of the first list are in the second. */
size_t nearest_shared(const struct neighbour *x, size_t n, const struct neighbour *y, size_t m);
