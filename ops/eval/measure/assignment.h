/* One-to-one assignments of rows to columns, and the accuracy of K-means labels assigned to
 * clusters. */
#pragma once

#include "ops/eval/measure/vectors.h"

/* Sets column[i] to maximise the sum of gain[i][column[i]]; gain is (n, n). Exact up to rounding;
 * O(n^3). The arena is scratch space. */
void assignment_best(uint32_t *column, struct arena *a, const double *gain, uint32_t n);
/* Assigns the highest gain first, then the highest of the remaining rows and columns, and so on;
 * ties by row, then column. */
void assignment_greedy(uint32_t *column, struct arena *a, const double *gain, uint32_t n);

struct clustering_accuracy {
    /* The mean over the clusters of the fraction of the cluster that has its label (E-Gen, eq. 3
     * and 4), with labels assigned to clusters one to one: to maximise the mean, or greedily, the
     * largest fraction first. */
    double best, greedy;
};

/* Labels are below v->n_clusters. */
void clustering_measure(struct clustering_accuracy *out, struct arena *a, const struct vectors *v,
                        const uint32_t *label);
