/* Measures of a ranked list where the relevance of each result is known but the total number of
 * relevant items is not; and their means over lists. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { PRECISION_CUTS = 3, PRECISION_DEPTH = 1000 };
extern const size_t precision_cuts[PRECISION_CUTS]; /* 10 100 1000 */

struct precision {
    /* The relevant share of the first k, or of all if there are fewer. */
    double at[PRECISION_CUTS];
    /* Unnormalized mean average precision: the sum, over the relevant ranks k, of the relevant
     * share of the first k. */
    double umap;
};
/* Considers the first PRECISION_DEPTH of n. */
struct precision precision_of(const bool *relevant, size_t n);

/* Returns the mean of values that are independent only across clusters, and its standard error: the
 * root of G / (G - 1) times the sum over G clusters of (sum of x - mean)^2, divided by n. With
 * fewer than two clusters the error is 0. */
double clustered_mean(double *error, const double *x, const uint32_t *cluster, size_t n,
                      struct arena *a);
