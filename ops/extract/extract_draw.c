/* Draws without replacement; see extract_draw.h. */
#include "ops/extract/extract_draw.h"

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

static uint64_t hash_count(count_t x)
{
    return rng_mix((uint64_t)x ^ rng_mix((uint64_t)(x >> 64)));
}

/* A hash set of indices into an array that the caller compares. */
struct index_set {
    uint32_t *slots; /* index + 1; 0 is free */
    uint32_t mask;
};

static void index_set_init(struct index_set *s, uint32_t capacity)
{
    uint32_t size = 16;
    while (size < 2 * capacity)
        size *= 2;
    s->slots = calloc(size, sizeof *s->slots);
    if (!s->slots)
        abort();
    s->mask = size - 1;
}

void count_sample(count_t *out, uint32_t k, count_t n, struct rng *rng)
{
    struct index_set set;
    index_set_init(&set, k);
    for (uint32_t i = 0; i < k; i++) {
        count_t last = n - k + i, value = count_below(rng, last + 1);
        for (int attempt = 0; attempt < 2; attempt++) {
            uint32_t at = hash_count(value) & set.mask;
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
    /* More than half of the terms are not drawn: this ends soon. */
    while (d->n < end) {
        grammar_unrank(&d->terms[d->n], d->g, d->g->root, length, count_below(d->rng, total));
        keep_new(d);
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
        draw_share_lengths(share, &g->totals[(size_t)g->root * n], n, wanted, options, a, rng);
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
