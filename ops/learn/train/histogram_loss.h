/* The histogram loss (Ustinova and Lempitsky 2016) of similarities in [-1, 1]: how likely a
 * negative pair is at least as similar as a positive one, by linearly filled histograms of 64 bins.
 */
#pragma once

#include <stddef.h>

/* Of n positive and m negative similarities, which become the loss's gradients by them. */
double histogram_loss(double *positive, size_t n, double *negative, size_t m);
