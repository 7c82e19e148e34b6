#include "ops/learn/data/example_sampler.h"

#include "base/rng.h"

#include <stdlib.h>

enum stream {
    STREAM_EPOCH = 1,
    STREAM_PAIR,
    STREAM_NEGATIVE,
    STREAM_CUT,
    STREAM_MEMBER,
    STREAM_NEAR,
    STREAM_CLUSTER
};

void example_sampler_init(struct example_sampler *x, const struct dataset *d, uint64_t seed,
                          size_t batch)
{
    *x = (struct example_sampler){.dataset = d, .seed = seed, .batch = batch};
}

void example_sampler_free(struct example_sampler *x)
{
    epoch_order_free(&x->pairs);
    epoch_order_free(&x->negatives);
    free(x->pairs_upto);
    *x = (struct example_sampler){0};
}

void example_sampler_by_pairs(struct example_sampler *x, uint64_t most)
{
    const struct dataset *d = x->dataset;
    uint64_t upto = 0;
    x->pairs_upto = must_calloc(d->clusters + 1, sizeof *x->pairs_upto);
    for (size_t c = 0; c < d->clusters; c++) {
        uint64_t n = d->first[c + 1] - d->first[c], pairs = n * (n - 1);
        x->pairs_upto[c] = upto += pairs < most ? pairs : most;
    }
}

/* ---- orders ---- */

static uint64_t key_of_sequence(const void *dataset, uint64_t of_epoch, uint32_t i)
{
    const struct dataset *d = dataset;
    return rng_mix(of_epoch ^ d->mark[i]);
}

/* By its first member: clusters of op extract begin with their seed. */
static uint64_t key_of_cluster(const void *dataset, uint64_t of_epoch, uint32_t i)
{
    const struct dataset *d = dataset;
    return key_of_sequence(d, of_epoch, d->member[d->first[i]]);
}

static uint64_t key_of_run(const void *dataset, uint64_t of_epoch, uint32_t i)
{
    return rng_mix(of_epoch ^ i);
}

/* Returns the item at a place in an epoch's order of n. Clusters with equal contents have equal
 * keys: side by side they would be negatives of each other. */
static uint32_t item_at(struct epoch_order *o, const struct example_sampler *x, enum stream stream,
                        uint64_t n, uint64_t epoch, uint64_t place, epoch_key *key)
{
    o->scatter = true;
    while (o->n < n)
        epoch_order_add(o, (uint32_t)o->n);
    return epoch_order_item(o, epoch, rng_at(x->seed, stream, epoch), place, key, x->dataset);
}

/* Returns the k-th of n items. An epoch has as many whole batches as the items fill and skips the
 * rest. */
static uint32_t in_turn(struct example_sampler *x, uint64_t n, size_t batch, uint64_t k,
                        epoch_key *key)
{
    uint64_t length = n >= batch ? n / batch * batch : n;
    return item_at(&x->pairs, x, STREAM_EPOCH, n, k / length, k % length, key);
}

/* Runs of the path come in random order, cut at different places each epoch. */
static uint32_t related_cluster(struct example_sampler *x, uint64_t k)
{
    const struct dataset *d = x->dataset;
    uint64_t runs = d->clusters / d->related, in_batch = x->batch / d->related,
             run = k / d->related;
    uint64_t at = (uint64_t)in_turn(x, runs, in_batch, run, key_of_run) * d->related;
    uint64_t cut = rng_at(x->seed, STREAM_CUT, x->pairs.epoch) % d->clusters;
    return d->path[(cut + at + k % d->related) % d->clusters];
}

/* ---- members ---- */

/* Returns the two members with the smallest hashes; a cluster has at least two. */
static struct pair two_members(const struct dataset *d, uint32_t cluster, uint64_t key)
{
    struct pair p = {.cluster = cluster};
    uint64_t a = 0, b = 0;
    size_t first = d->first[cluster];
    for (size_t i = first; i < d->first[cluster + 1]; i++) {
        uint32_t member = d->member[i];
        uint64_t hash = rng_mix(key ^ d->mark[member]);
        if (i == first || hash < a) {
            b = a;
            p.b = p.a;
            a = hash;
            p.a = member;
        } else if (i == first + 1 || hash < b) {
            b = hash;
            p.b = member;
        }
    }
    return p;
}

/* ---- draws ---- */

static uint32_t cluster_by_pairs(const struct example_sampler *x, uint64_t k)
{
    size_t low = 0, high = x->dataset->clusters - 1;
    uint64_t pair = rng_at(x->seed, STREAM_CLUSTER, k) % x->pairs_upto[high];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->pairs_upto[middle] > pair)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

struct pair example_sampler_pair(struct example_sampler *x, uint64_t k)
{
    const struct dataset *d = x->dataset;
    bool related = d->path && d->clusters >= d->related;
    uint32_t c = related         ? related_cluster(x, k)
                 : x->pairs_upto ? cluster_by_pairs(x, k)
                                 : in_turn(x, d->clusters, x->batch, k, key_of_cluster);
    return two_members(d, c, rng_at(x->seed, STREAM_PAIR, k));
}

/* If the order yields the pair's own cluster, the next one replaces it. */
uint32_t example_sampler_negative(struct example_sampler *x, uint32_t cluster, uint64_t k,
                                  uint64_t j, uint64_t n)
{
    const struct dataset *d = x->dataset;
    uint64_t at = k * n + j, epoch = at / d->clusters, place = at % d->clusters;
    uint32_t c =
        item_at(&x->negatives, x, STREAM_NEGATIVE, d->clusters, epoch, place, key_of_cluster);
    if (c == cluster)
        c = x->negatives.places[(place + 1) % d->clusters].item;
    return two_members(d, c, rng_at(x->seed, STREAM_MEMBER, at)).a;
}

bool example_sampler_near_miss(uint32_t *out, const struct example_sampler *x, uint32_t sequence,
                               uint64_t k, double share)
{
    uint64_t key = rng_at(x->seed, STREAM_NEAR, k), least = UINT64_MAX;
    size_t n;
    if ((double)(key >> 11) * 0x1p-53 >= share)
        return false;
    const struct near_miss_of *all = dataset_near_misses(&n, x->dataset, sequence);
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = rng_mix(key ^ all[i].mark);
        if (hash <= least) {
            least = hash;
            *out = all[i].sequence;
        }
    }
    return n > 0;
}

uint32_t example_sampler_sequence(struct example_sampler *x, uint64_t k)
{
    return in_turn(x, x->dataset->sequences, x->batch, k, key_of_sequence);
}
