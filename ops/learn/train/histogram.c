/* See histogram.h. */
#include "ops/learn/train/histogram.h"

#include "gpu/gpu.h"

static double sum(const double *x)
{
    double s = 0;
    for (size_t i = 0; i < GPU_BINS; i++)
        s += x[i];
    return s;
}

double histogram_loss(double *dbins, const double *bins)
{
    const double *positive = bins, *negative = bins + GPU_BINS;
    double *dpositive = dbins, *dnegative = dbins + GPU_BINS;
    double pairs = sum(positive) * sum(negative), by = pairs == 0 ? 0 : 1 / pairs;
    double up_to = 0, from = 0, loss = 0;
    for (size_t r = 0; r < GPU_BINS; r++) {
        up_to += positive[r];
        dnegative[r] = by * up_to;
        loss += by * up_to * negative[r];
    }
    for (size_t r = GPU_BINS; r-- > 0;) {
        from += negative[r];
        dpositive[r] = by * from;
    }
    return loss;
}
