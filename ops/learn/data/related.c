/* The path of related clusters; see dataset_relate. Each cluster is the tf-idf vector of its
 * members' tokens. The path starts at the first cluster and continues with the nearest remaining
 * one by cosine, the first in case of ties. Quadratic in clusters: a second or two for ten
 * thousand. */
#include "ops/learn/data/dataset.h"

#include "base/arena.h"

#include <math.h>

/* Bags of tokens as sparse rows: cluster c has the weights first[c] .. first[c+1]-1, sorted by
 * token. */
struct bags {
    struct arena arena;
    struct weight {
        uint32_t token;
        double weight;
    } * all;
    size_t cap, *first; /* (clusters + 1) */
    uint32_t vocabulary;
    double *dense, *df; /* (vocabulary) both: one bag; document frequencies */
};

/* Appends the bag of a cluster: the frequencies of its tokens. */
static void add_bag(struct bags *b, const struct dataset *d, size_t c)
{
    size_t n = b->first[c];
    double norm = 0;
    for (size_t i = d->first[c]; i < d->first[c + 1]; i++)
        for (size_t t = d->offset[d->member[i]]; t < d->offset[d->member[i] + 1]; t++, norm++)
            b->dense[d->tokens[t]]++;
    for (uint32_t v = 0; v < b->vocabulary; v++) {
        if (b->dense[v] == 0)
            continue;
        b->all = arena_grow(&b->arena, b->all, n, &b->cap, sizeof *b->all);
        b->all[n++] = (struct weight){v, b->dense[v] / norm};
        b->dense[v] = 0;
        b->df[v]++;
    }
    b->first[c + 1] = n;
}

static void apply_tfidf(struct bags *b, size_t clusters)
{
    for (size_t c = 0; c < clusters; c++) {
        double norm = 0;
        for (size_t i = b->first[c]; i < b->first[c + 1]; i++) {
            b->all[i].weight *= log((1 + (double)clusters) / (1 + b->df[b->all[i].token])) + 1;
            norm += b->all[i].weight * b->all[i].weight;
        }
        for (size_t i = b->first[c]; i < b->first[c + 1]; i++)
            b->all[i].weight /= sqrt(norm);
    }
}

/* Clusters not yet on the path are path[n..]; swaps the nearest one to path[n]. */
static void append_nearest(uint32_t *path, size_t n, size_t clusters, struct bags *b)
{
    uint32_t at = path[n - 1];
    double best = -1;
    size_t found = n;
    for (size_t i = b->first[at]; i < b->first[at + 1]; i++)
        b->dense[b->all[i].token] = b->all[i].weight;
    for (size_t i = n; i < clusters; i++) {
        double dot = 0;
        for (size_t t = b->first[path[i]]; t < b->first[path[i] + 1]; t++)
            dot += b->dense[b->all[t].token] * b->all[t].weight;
        if (dot > best || (dot == best && path[i] < path[found])) {
            best = dot;
            found = i;
        }
    }
    for (size_t i = b->first[at]; i < b->first[at + 1]; i++)
        b->dense[b->all[i].token] = 0;
    uint32_t swapped = path[n];
    path[n] = path[found];
    path[found] = swapped;
}

void dataset_relate(struct dataset *d, size_t related, uint32_t vocabulary)
{
    struct bags b = {.vocabulary = vocabulary};
    b.dense = arena_array(&b.arena, double, vocabulary);
    b.df = arena_array(&b.arena, double, vocabulary);
    b.first = arena_array(&b.arena, size_t, d->clusters + 1);
    d->path = must_calloc(d->clusters + 1, sizeof *d->path);
    d->related = related;
    for (size_t c = 0; c < d->clusters; c++)
        add_bag(&b, d, c);
    apply_tfidf(&b, d->clusters);
    for (size_t i = 0; i < d->clusters; i++)
        d->path[i] = (uint32_t)i;
    for (size_t n = 1; n < d->clusters; n++)
        append_nearest(d->path, n, d->clusters, &b);
    arena_free(&b.arena);
}
