/* A mean of values that are independent of each other only where their clusters differ. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* The mean and its standard error: the root of G / (G - 1) times the sum over G clusters of
 * (sum of x - mean)^2, by n. With fewer than two clusters the error is 0. */
double clustered_mean(double *error, const double *x, const uint32_t *cluster, size_t n,
                      struct arena *a);
