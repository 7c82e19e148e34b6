/* One-to-one assignments of rows to columns, and how well they make the labels of K-means match the
 * clusters. */
#pragma once

#include "ops/eval/measure/vectors.h"

/* gain is (n, n); column[i] is set to maximise the sum of gain[i][column[i]]. Exact up to rounding;
 * O(n^3). The arena is for work. */
void assignment_best(uint32_t *column, struct arena *a, const double *gain, uint32_t n);
/* The highest gain first, then the highest of the remaining rows and columns, and so on; ties by
 * row, then column. */
void assignment_greedy(uint32_t *column, struct arena *a, const double *gain, uint32_t n);

struct clustering_accuracy {
    /* (1/K) sum over clusters of the fraction of the cluster that has its label (E-Gen, eq. 3 and
     * 4), with the labels given to clusters one to one: so that this is greatest, or greedily, the
     * greatest fraction first. */
    double best, greedy;
};

/* Labels are below v->n_clusters. */
void clustering_measure(struct clustering_accuracy *out, struct arena *a, const struct vectors *v,
                        const uint32_t *label);
