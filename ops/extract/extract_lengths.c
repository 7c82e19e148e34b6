/* How many terms of each length a draw takes; see extract_draw.h. Sums, products, quotients and
 * square roots only, which are the same on every machine. */
#include "ops/extract/extract_draw.h"

#include <math.h>

/* No length gives more terms than it has; the remainder goes to lengths at random. */
static void share_evenly(uint32_t *share, const count_t *limit, uint32_t n, uint32_t wanted,
                         struct arena *a, struct rng *rng)
{
    uint32_t *open = arena_alloc(a, n * sizeof *open), n_open = 0;
    for (uint32_t i = 0; i < n; i++) {
        share[i] = 0;
        if (limit[i])
            open[n_open++] = i;
    }
    while (wanted && n_open) {
        uint32_t each = wanted / n_open;
        if (each == 0) {
            rng_shuffle_u32(rng, open, n_open);
            for (uint32_t i = 0; i < wanted; i++)
                share[open[i]]++;
            return;
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n_open; i++) {
            count_t room = limit[open[i]] - share[open[i]];
            uint32_t give = room < each ? (uint32_t)room : each;
            share[open[i]] += give;
            wanted -= give;
            if (room > give)
                open[kept++] = open[i];
        }
        n_open = kept;
    }
}

/* ---- a mean length: of the distributions that have it, the one of maximum entropy ---- */

/* Shares min(limit, c * tilt^length) that sum to `wanted`, which the limits admit; returns their
 * mean length, which grows with the tilt. */
static double share_tilted(double *share, const count_t *limit, uint32_t n, uint32_t wanted,
                           double tilt)
{
    double weight[EXTRACT_MAX_TOKENS], left = wanted, scale = 0, sum = 0, w = 1;
    bool full[EXTRACT_MAX_TOKENS];
    for (uint32_t i = 0; i < n; i++) {
        weight[i] = w;
        full[i] = limit[i] == 0;
        share[i] = 0;
        w = w * tilt;
        if (w > 1e200 || w < 1e-200) /* only ratios count; lengths so far off get nothing */
            w = w > 1 ? 1e200 : 1e-200;
    }
    for (bool changed = true; changed;) {
        double weights = 0;
        for (uint32_t i = 0; i < n; i++)
            weights += full[i] ? 0 : weight[i];
        scale = weights > 0 ? left / weights : 0;
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            if (!full[i] && scale * weight[i] >= (double)limit[i]) {
                share[i] = (double)limit[i];
                left -= share[i];
                full[i] = changed = true;
            }
    }
    for (uint32_t i = 0; i < n; i++) {
        share[i] = full[i] ? share[i] : scale * weight[i];
        sum += share[i] * i;
    }
    return sum / wanted;
}

/* Whole numbers with the same sum: the largest fractions are rounded up. */
static void round_shares(uint32_t *out, const double *share, const count_t *limit, uint32_t n,
                         uint32_t wanted)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += out[i] = (uint32_t)share[i];
    for (; sum < wanted; sum++) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++)
            if (out[i] < limit[i] && (best == n || share[i] - out[i] > share[best] - out[best]))
                best = i;
        out[best]++;
    }
}

static void share_by_mean(uint32_t *share, const count_t *limit, uint32_t n, uint32_t wanted,
                          double mean)
{
    enum { HALVINGS = 40 };
    double exact[EXTRACT_MAX_TOKENS], low = 0.125, high = 8;
    for (int i = 0; i < HALVINGS; i++) {
        double tilt = sqrt(low * high);
        if (share_tilted(exact, limit, n, wanted, tilt) > mean)
            high = tilt;
        else
            low = tilt;
    }
    share_tilted(exact, limit, n, wanted, low);
    round_shares(share, exact, limit, n, wanted);
}

void draw_share_lengths(uint32_t *share, const count_t *limit, uint32_t n, uint32_t wanted,
                        const struct draw_options *options, struct arena *a, struct rng *rng)
{
    switch (options->lengths) {
    case DRAW_LENGTHS: share_evenly(share, limit, n, wanted, a, rng); return;
    case DRAW_MEAN: share_by_mean(share, limit, n, wanted, options->mean_tokens); return;
    }
}
