/* The histogram loss (Ustinova and Lempitsky 2016) of two histograms of similarities: with h+ and
 * h- as shares, the sum over bins r of h-[r] * (h+[0] + ... + h+[r]), which estimates how likely a
 * negative pair is at least as similar as a positive one. */
#ifndef OPS_LEARN_TRAIN_HISTOGRAM_H
#define OPS_LEARN_TRAIN_HISTOGRAM_H

/* bins (2, GPU_BINS): weights of the positives, then of the negatives; dbins, as long: the loss's
 * gradient by what a pair adds to them, the number of pairs being given. Without a negative all
 * is 0. */
double histogram_loss(double *dbins, const double *bins);

#endif
