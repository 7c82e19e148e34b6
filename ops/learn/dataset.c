/* Clusters of sequences and pairs from them; see dataset.h. */
#include "ops/learn/dataset.h"

#include "base/buf.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void dataset_free(struct dataset *d)
{
    free(d->tokens);
    free(d->offset);
    free(d->member);
    free(d->first);
    free(d->path);
    *d = (struct dataset){0};
}

enum err_code token_batch_check(const Eqloom__TokenBatch *b, uint32_t vocabulary,
                                uint32_t max_length, struct err *e)
{
    if (b->n_offset == 0 || b->offset[0] != 0 || b->offset[b->n_offset - 1] != b->n_tokens ||
        b->n_cluster != b->n_offset - 1)
        return err_fail(e, ERR_CORRUPT, "token batch: offsets do not fit its tokens");
    for (size_t i = 0; i + 1 < b->n_offset; i++) {
        if (b->offset[i + 1] <= b->offset[i] || b->offset[i + 1] > b->n_tokens)
            return err_fail(e, ERR_CORRUPT, "token batch: sequence %zu has no token", i);
        uint32_t n = b->offset[i + 1] - b->offset[i];
        if (n > max_length)
            return err_fail(e, ERR_LIMIT,
                            "sequence %zu has %u tokens, more than the model's max_length %u", i, n,
                            max_length);
    }
    for (size_t i = 0; i < b->n_tokens; i++)
        if (b->tokens[i] >= vocabulary)
            return err_fail(e, ERR_INPUT, "token %u is not in the vocabulary of %u tokens",
                            b->tokens[i], vocabulary);
    return OK;
}

static void add_sequences(struct dataset *d, const Eqloom__TokenBatch *b)
{
    size_t n = b->n_offset - 1;
    d->tokens = vec_grow(d->tokens, &d->tokens_cap, d->n_tokens + b->n_tokens, sizeof *d->tokens);
    d->offset = vec_grow(d->offset, &d->offset_cap, d->sequences + n + 1, sizeof *d->offset);
    if (b->n_tokens)
        memcpy(d->tokens + d->n_tokens, b->tokens, b->n_tokens * sizeof *d->tokens);
    for (size_t i = 0; i <= n; i++)
        d->offset[d->sequences + i] = d->n_tokens + b->offset[i];
    d->sequences += n;
    d->n_tokens += b->n_tokens;
}

struct entry {
    uint32_t cluster, index;
};

static int compare_entries(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->cluster != b->cluster)
        return a->cluster < b->cluster ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Runs of equal cluster numbers, in their order, are the clusters. */
static void add_clusters(struct dataset *d, const struct entry *entries, size_t n, size_t base)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && entries[j].cluster == entries[i].cluster; j++)
            ;
        if (j - i < 2) {
            d->singles++;
            continue;
        }
        d->member = vec_grow(d->member, &d->member_cap, d->members + j - i, sizeof *d->member);
        d->first = vec_grow(d->first, &d->first_cap, d->clusters + 2, sizeof *d->first);
        d->first[d->clusters++] = d->members;
        for (size_t k = i; k < j; k++)
            d->member[d->members++] = (uint32_t)base + entries[k].index;
        d->first[d->clusters] = d->members;
    }
}

enum err_code dataset_add(struct dataset *d, const Eqloom__TokenBatch *b, uint32_t vocabulary,
                          uint32_t max_length, struct err *e)
{
    enum err_code code = token_batch_check(b, vocabulary, max_length, e);
    if (code)
        return err_up(e, code);
    size_t base = d->sequences, n = b->n_offset - 1;
    if (n > UINT32_MAX - base)
        return err_fail(e, ERR_LIMIT, "more than 2^32 sequences to train on");
    struct entry *entries = malloc((n + 1) * sizeof *entries);
    if (!entries)
        return err_fail(e, ERR_NOMEM, "no memory for a batch of %zu sequences", n);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct entry){b->cluster[i], (uint32_t)i};
    qsort(entries, n, sizeof *entries, compare_entries);
    add_sequences(d, b);
    add_clusters(d, entries, n, base);
    free(entries);
    return OK;
}

/* The place of `at` in a pseudo-random order of 0..n-1: a Feistel network over the least even
 * number of bits that holds n, walked until it falls below n again (expected under 4 rounds). */
static uint64_t permuted(uint64_t at, uint64_t n, uint64_t key)
{
    unsigned half = 1;
    while (half < 32 && UINT64_C(1) << (2 * half) < n)
        half++;
    uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = at >> half, right = at & mask;
        for (uint64_t round = 0; round < 6; round++) {
            uint64_t next = left ^ (rng_at(key, round, right) & mask);
            left = right;
            right = next;
        }
        at = left << half | right;
    } while (at >= n);
    return at;
}

enum stream { STREAM_EPOCH = 1, STREAM_PAIR, STREAM_NEGATIVE, STREAM_CUT };

static uint32_t below(uint32_t bits, size_t n)
{
    return (uint32_t)((uint64_t)bits * n >> 32);
}

/* The k-th of n things, for batches of `batch` consecutive k: each epoch in another order. An epoch
 * is as many whole batches as the things fill; the rest of them sits it out. */
static uint64_t shuffled(uint64_t n, uint64_t seed, size_t batch, uint64_t k)
{
    uint64_t length = n >= batch ? n / batch * batch : n;
    return permuted(k % length, n, rng_at(seed, STREAM_EPOCH, k / length));
}

/* Runs of the path come in a random order, cut at other places each epoch. */
static uint64_t related_cluster(const struct dataset *d, uint64_t seed, size_t batch, uint64_t k)
{
    uint64_t runs = d->clusters / d->related, in_batch = batch / d->related, run = k / d->related;
    uint64_t length = runs >= in_batch ? runs / in_batch * in_batch : runs, epoch = run / length;
    uint64_t at = permuted(run % length, runs, rng_at(seed, STREAM_EPOCH, epoch)) * d->related;
    uint64_t cut = rng_at(seed, STREAM_CUT, epoch) % d->clusters;
    return d->path[(cut + at + k % d->related) % d->clusters];
}

struct pair dataset_pair(const struct dataset *d, uint64_t seed, size_t batch, uint64_t k)
{
    bool related = d->path && d->clusters >= d->related;
    uint64_t c =
        related ? related_cluster(d, seed, batch, k) : shuffled(d->clusters, seed, batch, k);
    size_t first = d->first[c], n = d->first[c + 1] - first;
    uint64_t bits = rng_at(seed, STREAM_PAIR, k);
    uint32_t a = below((uint32_t)bits, n), b = below((uint32_t)(bits >> 32), n - 1);
    return (struct pair){(uint32_t)c, d->member[first + a], d->member[first + b + (b >= a)]};
}

uint32_t dataset_negative(const struct dataset *d, uint64_t seed, uint32_t cluster, uint64_t k,
                          uint64_t j)
{
    uint64_t bits = rng_at(rng_at(seed, STREAM_NEGATIVE, k), 0, j);
    uint32_t c = below((uint32_t)bits, d->clusters - 1);
    c += c >= cluster;
    return d->member[d->first[c] + below((uint32_t)(bits >> 32), d->first[c + 1] - d->first[c])];
}

static int compare_sequences(const struct dataset *d, uint32_t a, uint32_t b)
{
    size_t n = d->offset[a + 1] - d->offset[a], m = d->offset[b + 1] - d->offset[b];
    const uint32_t *x = d->tokens + d->offset[a], *y = d->tokens + d->offset[b];
    if (n != m)
        return n < m ? -1 : 1;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

uint32_t dataset_shortest(const struct dataset *d, uint32_t cluster)
{
    uint32_t best = d->member[d->first[cluster]];
    for (size_t i = d->first[cluster] + 1; i < d->first[cluster + 1]; i++)
        if (compare_sequences(d, d->member[i], best) < 0)
            best = d->member[i];
    return best;
}

uint32_t dataset_sequence(const struct dataset *d, uint64_t seed, size_t batch, uint64_t k)
{
    return (uint32_t)shuffled(d->sequences, seed, batch, k);
}
