/* Draws without replacement; see extract_draw.h. */
#include "ops/extract/extract_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

count_t count_below(struct rng *rng, count_t n)
{
    if (n <= UINT64_MAX)
        return rng_below(rng, (uint64_t)n);
    int shift = __builtin_clzll((uint64_t)((n - 1) >> 64) | 1);
    for (;;) {
        count_t hi = rng_u64(rng) >> shift, value = hi << 64 | rng_u64(rng);
        if (value < n)
            return value;
    }
}

/* A hash set of indices into an array that the caller compares. */
struct index_set {
    uint32_t *slots; /* index + 1; 0: free */
    uint32_t mask;
};

static void index_set_init(struct index_set *s, uint32_t capacity)
{
    uint32_t size = 16;
    while (size < 2 * capacity)
        size *= 2;
    s->slots = must_calloc(size, sizeof *s->slots);
    s->mask = size - 1;
}

void count_sample(count_t *out, uint32_t k, count_t n, struct rng *rng)
{
    struct index_set set;
    index_set_init(&set, k);
    for (uint32_t i = 0; i < k; i++) {
        count_t last = n - k + i, value = count_below(rng, last + 1);
        for (int attempt = 0; attempt < 2; attempt++) {
            uint64_t hash = rng_mix((uint64_t)value ^ rng_mix((uint64_t)(value >> 64)));
            uint32_t at = hash & set.mask;
            while (set.slots[at] && out[set.slots[at] - 1] != value)
                at = (at + 1) & set.mask;
            if (!set.slots[at]) {
                set.slots[at] = i + 1;
                out[i] = value;
                break;
            }
            value = last;
        }
    }
    free(set.slots);
}

struct drawing {
    const struct grammar *g;
    struct arena *a;
    struct rng *rng;
    struct term *terms;
    uint32_t n;
    struct index_set set;
};

static bool keep_new(struct drawing *d)
{
    const struct term *t = &d->terms[d->n];
    uint64_t hash = t->length;
    for (uint32_t i = 0; i < t->n; i++)
        hash = rng_mix(hash ^ t->nodes[i]);
    uint32_t at = hash & d->set.mask;
    for (; d->set.slots[at]; at = (at + 1) & d->set.mask) {
        const struct term *other = &d->terms[d->set.slots[at] - 1];
        if (other->n == t->n && memcmp(other->nodes, t->nodes, t->n * sizeof *t->nodes) == 0)
            return false;
    }
    d->set.slots[at] = ++d->n;
    return true;
}

static void walk_slot(struct term *t, struct drawing *d, uint32_t slot, uint32_t length);

static void walk_children(struct term *t, struct drawing *d, const struct grammar_alt *alt,
                          uint32_t rest)
{
    const struct grammar *g = d->g;
    uint32_t l = alt->slot[0], r = alt->slot[1], n = 0;
    for (uint32_t i = 1; i < rest; i++)
        n += grammar_total(g, l, i) && grammar_total(g, r, rest - i);
    uint32_t pick = (uint32_t)rng_below(d->rng, n), i = 0;
    do
        i++;
    while (!(grammar_total(g, l, i) && grammar_total(g, r, rest - i)) || pick-- > 0);
    walk_slot(t, d, l, i);
    walk_slot(t, d, r, rest - i);
}

static uint32_t op_bin(const struct grammar *g, const struct grammar_alt *alt)
{
    uint16_t op = g->nodes[alt->node].op;
    return op < DRAW_OPS ? op : DRAW_OPS - 1;
}

static void walk_slot(struct term *t, struct drawing *d, uint32_t slot, uint32_t length)
{
    const struct grammar *g = d->g;
    uint32_t c = g->slots[slot].class, begin = g->alt_begin[c], n = g->alt_begin[c + 1] - begin;
    const count_t *row = g->counts + g->alt_counts[c] + (size_t)(length - 1) * n;
    uint32_t in_bin[DRAW_OPS] = {0}, bins[DRAW_OPS], n_bins = 0;
    for (uint32_t k = 0; k < n; k++)
        if (row[k] && grammar_alt_in_slot(&g->slots[slot], &g->alts[begin + k])) {
            uint32_t bin = op_bin(g, &g->alts[begin + k]);
            if (in_bin[bin]++ == 0)
                bins[n_bins++] = bin;
        }
    uint32_t bin = bins[rng_below(d->rng, n_bins)];
    uint32_t pick = (uint32_t)rng_below(d->rng, in_bin[bin]), k = 0;
    while (!(row[k] && grammar_alt_in_slot(&g->slots[slot], &g->alts[begin + k]) &&
             op_bin(g, &g->alts[begin + k]) == bin && pick-- == 0))
        k++;
    const struct grammar_alt *alt = &g->alts[begin + k];
    const struct grammar_node *node = &g->nodes[alt->node];
    t->nodes[t->n++] = alt->node;
    if (node->arity == 1)
        walk_slot(t, d, alt->slot[0], length - node->tokens);
    else if (node->arity == 2)
        walk_children(t, d, alt, length - node->tokens);
}

static void draw_proportional(struct drawing *d, uint32_t length, uint32_t wanted)
{
    count_t *ranks = arena_alloc(d->a, wanted * sizeof *ranks);
    count_sample(ranks, wanted, grammar_total(d->g, d->g->root, length), d->rng);
    for (uint32_t i = 0; i < wanted; i++) {
        grammar_unrank(&d->terms[d->n], d->g, d->g->root, length, ranks[i]);
        keep_new(d);
    }
}

static void draw_evenly(struct drawing *d, uint32_t length, uint32_t wanted)
{
    count_t total = grammar_total(d->g, d->g->root, length);
    if (total / 2 <= wanted) {
        draw_proportional(d, length, wanted);
        return;
    }
    uint32_t end = d->n + wanted;
    for (uint32_t tries = 0; d->n < end && tries < 8 * wanted; tries++) {
        struct term *t = &d->terms[d->n];
        t->n = 0;
        t->length = length;
        walk_slot(t, d, d->g->root, length);
        keep_new(d);
    }
    /* More than half of the terms are not drawn yet, so this loop ends soon. */
    while (d->n < end) {
        grammar_unrank(&d->terms[d->n], d->g, d->g->root, length, count_below(d->rng, total));
        keep_new(d);
    }
}

/* ---- how many terms of each length ----
 *
 * Uses only sums, products, quotients and square roots, which are the same on every machine. */

/* No length gets more terms than it has; the remainder goes to random lengths. */
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

/* The distribution of maximum entropy with a given mean length: shares min(limit, c * tilt^length)
 * that sum to `wanted`, which the limits admit. Returns their mean length, which grows with the
 * tilt. */
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
        if (w > 1e200 || w < 1e-200) /* only ratios count; such distant lengths get nothing */
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

/* Rounds to whole numbers with the same sum: the largest fractions are rounded up. */
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

/* Computes how many of `wanted` terms each length gets; limit[i] terms have length i < n. */
static void share_lengths(uint32_t *share, const count_t *limit, uint32_t n, uint32_t wanted,
                          const struct draw_options *options, struct arena *a, struct rng *rng)
{
    switch (options->lengths) {
    case DRAW_LENGTHS: share_evenly(share, limit, n, wanted, a, rng); return;
    case DRAW_MEAN: share_by_mean(share, limit, n, wanted, options->mean_tokens); return;
    }
}

void grammar_draw(struct term **out, uint32_t *n_out, struct arena *a, const struct grammar *g,
                  uint32_t wanted, const struct draw_options *options, struct rng *rng)
{
    count_t terms = grammar_terms(g);
    if (terms < wanted)
        wanted = (uint32_t)terms;
    struct drawing d = {.g = g, .a = a, .rng = rng};
    d.terms = arena_alloc(a, (wanted + 1) * sizeof *d.terms);
    index_set_init(&d.set, wanted);
    uint32_t n = g->max_tokens + 1, *share = arena_zalloc_array(a, n, sizeof *share);
    if (wanted)
        share_lengths(share, &g->totals[(size_t)g->root * n], n, wanted, options, a, rng);
    for (uint32_t length = 1; length < n; length++) {
        if (!share[length])
            continue;
        switch (options->shapes) {
        case DRAW_PROPORTIONAL: draw_proportional(&d, length, share[length]); break;
        case DRAW_EVEN: draw_evenly(&d, length, share[length]); break;
        }
    }
    free(d.set.slots);
    for (uint32_t i = d.n; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(rng, i);
        struct term t = d.terms[i - 1];
        d.terms[i - 1] = d.terms[j];
        d.terms[j] = t;
    }
    *out = d.terms;
    *n_out = d.n;
}
