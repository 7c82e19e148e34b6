/* Writing the formats of lines; see corpus_format.h. */
#include "base/rng.h"
#include "ops/corpus/format/corpus_format.h"

#include <ctype.h>
#include <string.h>

/* Prefix tokens of the corpora: a fraction is an operation. */
static void write_term(struct buf *out, const char *prefix)
{
    for (const char *at = prefix; *at;) {
        size_t len = strcspn(at, " ");
        const char *slash = memchr(at, '/', len);
        if (slash && len > 1) {
            buf_puts(out, "/ ");
            buf_add(out, at, (size_t)(slash - at));
            buf_putc(out, ' ');
            buf_add(out, slash + 1, len - (size_t)(slash - at) - 1);
        } else
            buf_add(out, at, len);
        at += len;
        if (*at)
            buf_putc(out, *at++);
    }
}

static void write_clusters(struct buf *out, Eqloom__Cluster *const *clusters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, '\n');
        for (size_t k = 0; k < clusters[i]->n_members; k++) {
            write_term(out, clusters[i]->members[k]->prefix);
            buf_putc(out, '\n');
        }
    }
}

static uint64_t hash_text(const char *s)
{
    uint64_t h = 0;
    for (; *s; s++)
        h = rng_mix(h ^ (uint8_t)*s);
    return h;
}

/* A member of another cluster. */
static const char *negative(struct rng *rng, Eqloom__Cluster *const *clusters, size_t n, size_t own)
{
    size_t other = (own + 1 + rng_below(rng, n - 1)) % n;
    const Eqloom__Cluster *c = clusters[other];
    return c->n_members ? c->members[rng_below(rng, c->n_members)]->prefix : c->seed->prefix;
}

/* The numbers below `left` in random order (Fisher and Yates), of which only those that are drawn
 * are kept: a cluster may have more pairs than there is memory. */
struct shuffle {
    struct rng rng;
    uint64_t next, left;
    bool in_order;
    struct map64 moved; /* place -> number, where it is not the place's own */
};

static uint64_t number_at(const struct shuffle *s, uint64_t place)
{
    const uint64_t *moved = map64_get(&s->moved, place);
    return moved ? *moved : place;
}

static uint64_t shuffle_next(struct shuffle *s)
{
    uint64_t here = s->next++, there = here;
    if (!s->in_order)
        there += rng_below(&s->rng, s->left);
    s->left--;
    uint64_t number = number_at(s, there);
    if (there != here)
        *map64_put(&s->moved, there, 0, NULL) = number_at(s, here);
    return number;
}

/* Ordered pairs of different members, without repetition. Each cluster's generator depends on its
 * seed: one more cluster changes no pairs of the others. */
static enum err_code write_pairs(struct buf *out, bool triplets, Eqloom__Cluster *const *clusters,
                                 size_t n, const struct corpus_write_options *options,
                                 struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++) {
        const Eqloom__Cluster *c = clusters[i];
        uint64_t m = c->n_members, all = m * (m - (m > 0)), wanted = options->per_cluster;
        if (all == 0 || (triplets && n < 2))
            continue;
        struct shuffle order = {.rng = rng_new(options->seed, hash_text(c->seed->prefix)),
                                .left = all,
                                .in_order = !wanted || wanted >= all};
        for (uint64_t k = 0; k < all && (!wanted || k < wanted); k++) {
            if (options->most_bytes && out->len > options->most_bytes) {
                code = err_fail(e, ERR_LIMIT,
                                "the file would be longer than %zu MB, with cluster %zu of %zu: "
                                "set 'pairs' to fewer from each cluster",
                                options->most_bytes >> 20, i + 1, n);
                break;
            }
            uint64_t pair = shuffle_next(&order), first = pair / (m - 1), second = pair % (m - 1);
            second += second >= first;
            write_term(out, c->members[first]->prefix);
            buf_putc(out, '\t');
            write_term(out, c->members[second]->prefix);
            if (triplets) {
                buf_putc(out, '\t');
                write_term(out, negative(&order.rng, clusters, n, i));
            }
            buf_putc(out, '\n');
        }
        map64_free(&order.moved);
    }
    return code;
}

enum err_code corpus_write(struct buf *out, enum corpus_format format,
                           Eqloom__Cluster *const *clusters, size_t n,
                           const struct corpus_write_options *options, struct err *e)
{
    switch (format) {
    case CORPUS_E_GEN: write_clusters(out, clusters, n); break;
    case CORPUS_PAIRS: return err_up(e, write_pairs(out, false, clusters, n, options, e));
    case CORPUS_TRIPLETS: return err_up(e, write_pairs(out, true, clusters, n, options, e));
    case CORPUS_SEMVEC: corpus_write_semvec(out, clusters, n); break;
    case CORPUS_JSONL:
    case CORPUS_FORMATS: break;
    }
    return OK;
}
