/* Clusters of sequences; see dataset.h. */
#include "ops/learn/data/dataset.h"

#include "base/buf.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void dataset_free(struct dataset *d)
{
    free(d->tokens);
    free(d->offset);
    free(d->mark);
    free(d->member);
    free(d->first);
    free(d->path);
    free(d->near_misses);
    *d = (struct dataset){0};
}

enum err_code token_batch_check(const Eqloom__TokenBatch *b, uint32_t vocabulary,
                                uint32_t max_length, struct err *e)
{
    if (b->n_offset == 0 || b->offset[0] != 0 || b->offset[b->n_offset - 1] != b->n_tokens ||
        b->n_cluster != b->n_offset - 1)
        return err_fail(e, ERR_CORRUPT, "token batch: offsets do not match its tokens");
    for (size_t i = 0; i + 1 < b->n_offset; i++) {
        if (b->offset[i + 1] <= b->offset[i] || b->offset[i + 1] > b->n_tokens)
            return err_fail(e, ERR_CORRUPT, "token batch: sequence %zu is empty", i);
        uint32_t n = b->offset[i + 1] - b->offset[i];
        bool has_text = i < b->n_text;
        if (n > max_length)
            return err_fail(e, ERR_LIMIT,
                            "sequence %zu%s%.60s%s has %u tokens; the model's max_length allows %u",
                            i, has_text ? " (" : "", has_text ? b->text[i] : "",
                            has_text ? ")" : "", n, max_length);
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

static uint64_t mark_of(const uint32_t *tokens, size_t n)
{
    uint64_t mark = n;
    for (size_t i = 0; i < n; i++)
        mark = rng_mix(mark ^ tokens[i]);
    return mark;
}

struct entry {
    uint64_t mark;
    uint32_t cluster, index;
};

/* By cluster and index, before there are marks. */
static int compare_entries(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->cluster != b->cluster)
        return a->cluster < b->cluster ? -1 : 1;
    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Marks the sequences from `base` on; equal members of a cluster get different marks. */
static void add_marks(struct dataset *d, struct entry *entries, size_t n, size_t base)
{
    d->mark = vec_grow(d->mark, &d->mark_cap, base + n + 1, sizeof *d->mark);
    for (size_t i = 0; i < n; i++) {
        const size_t *at = &d->offset[base + entries[i].index];
        entries[i].mark = mark_of(d->tokens + at[0], at[1] - at[0]);
    }
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0, equal = 0; i < n; i++) {
        bool again = i && entries[i].cluster == entries[i - 1].cluster &&
                     entries[i].mark == entries[i - 1].mark;
        equal = again ? equal + 1 : 0;
        d->mark[base + entries[i].index] =
            equal ? rng_at(entries[i].mark, 1, equal) : entries[i].mark;
    }
}

/* Each run of equal cluster numbers becomes a cluster. */
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
    struct entry *entries = must_calloc(n + 1, sizeof *entries);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct entry){.cluster = b->cluster[i], .index = (uint32_t)i};
    add_sequences(d, b);
    qsort(entries, n, sizeof *entries, compare_entries);
    add_clusters(d, entries, n, base);
    add_marks(d, entries, n, base);
    free(entries);
    return OK;
}

enum err_code dataset_add_near_misses(struct dataset *d, const Eqloom__TokenBatch *b,
                                      uint32_t vocabulary, uint32_t max_length, struct err *e)
{
    enum err_code code = token_batch_check(b, vocabulary, max_length, e);
    if (code)
        return err_up(e, code);
    size_t base = d->sequences, n = b->n_offset - 1;
    if (n % 2)
        return err_fail(e, ERR_INPUT, "near misses: %zu sequences, an odd number", n);
    if (n > UINT32_MAX - base)
        return err_fail(e, ERR_LIMIT, "more than 2^32 sequences to train on");
    add_sequences(d, b);
    d->mark = vec_grow(d->mark, &d->mark_cap, base + n + 1, sizeof *d->mark);
    d->near_misses = vec_grow(d->near_misses, &d->near_miss_cap, d->n_near_misses + n / 2,
                              sizeof *d->near_misses);
    for (size_t i = base; i < base + n; i++) {
        d->mark[i] = mark_of(d->tokens + d->offset[i], d->offset[i + 1] - d->offset[i]);
        if ((i - base) % 2)
            d->near_misses[d->n_near_misses++] =
                (struct near_miss_of){d->mark[i - 1], d->mark[i], (uint32_t)i};
    }
    return OK;
}

static int compare_near_misses(const void *x, const void *y)
{
    const struct near_miss_of *a = x, *b = y;
    if (a->of != b->of)
        return a->of < b->of ? -1 : 1;
    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

void dataset_order_near_misses(struct dataset *d)
{
    if (d->n_near_misses)
        qsort(d->near_misses, d->n_near_misses, sizeof *d->near_misses, compare_near_misses);
}

const struct near_miss_of *dataset_near_misses(size_t *n, const struct dataset *d,
                                               uint32_t sequence)
{
    uint64_t of = d->mark[sequence];
    size_t low = 0, high = d->n_near_misses;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->near_misses[middle].of < of)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < d->n_near_misses && d->near_misses[low + *n].of == of;)
        ++*n;
    return *n ? d->near_misses + low : NULL;
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
