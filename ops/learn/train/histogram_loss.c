/* See histogram_loss.h. */
#include "ops/learn/train/histogram_loss.h"

#include <stdbool.h>

enum { BINS = 64 };

/* Between which bins, and how far on the way. */
static size_t bin_of(double *part, double s)
{
    double at = (s + 1) * (BINS - 1) / 2;
    at = at < 0 ? 0 : at > BINS - 1 ? BINS - 1 : at;
    size_t bin = at >= BINS - 1 ? BINS - 2 : (size_t)at;
    *part = at - (double)bin;
    return bin;
}

static void count(double bins[BINS], const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double part;
        size_t bin = bin_of(&part, s[i]);
        bins[bin] += (1 - part) / (double)n;
        bins[bin + 1] += part / (double)n;
    }
}

static void uncount(double *s, const double dbins[BINS], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double part;
        size_t bin = bin_of(&part, s[i]);
        bool within = s[i] > -1 && s[i] < 1;
        s[i] = within ? (dbins[bin + 1] - dbins[bin]) * (BINS - 1) / 2 / (double)n : 0;
    }
}

double histogram_loss(double *positive, size_t n, double *negative, size_t m)
{
    double p[BINS] = {0}, q[BINS] = {0}, dp[BINS], dq[BINS], up_to = 0, from = 0, loss = 0;
    count(p, positive, n);
    count(q, negative, m);
    for (size_t r = 0; r < BINS; r++) {
        up_to += p[r];
        dq[r] = up_to;
        loss += q[r] * up_to;
    }
    for (size_t r = BINS; r-- > 0;) {
        from += q[r];
        dp[r] = from;
    }
    uncount(positive, dp, n);
    uncount(negative, dq, m);
    return loss;
}
