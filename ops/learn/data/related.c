/* The path of related clusters; see dataset_relate. Each cluster is the tf-idf vector of its
 * members' tokens. The path begins at the first cluster and continues with the nearest one by
 * cosine that is not on it yet, the first of equals. Quadratic in clusters: a second or two for ten
 * thousand. */
#include "ops/learn/data/dataset.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

/* Bags as sparse rows: cluster c has weight[first[c]] .. weight[first[c+1]-1], of the tokens
 * beside, which ascend. */
struct bags {
    uint32_t *token, vocabulary;
    double *weight;
    size_t *first; /* (clusters + 1) */
    size_t token_cap, weight_cap;
    double *dense, *df; /* (vocabulary) both: one bag; how many bags have the token */
};

static void bags_free(struct bags *b)
{
    free(b->token);
    free(b->weight);
    free(b->first);
    free(b->dense);
    free(b->df);
}

/* Shares of the cluster's tokens, behind the bags before it. */
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
        b->token = vec_grow(b->token, &b->token_cap, n + 1, sizeof *b->token);
        b->weight = vec_grow(b->weight, &b->weight_cap, n + 1, sizeof *b->weight);
        b->token[n] = v;
        b->weight[n++] = b->dense[v] / norm;
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
            b->weight[i] *= log((1 + (double)clusters) / (1 + b->df[b->token[i]])) + 1;
            norm += b->weight[i] * b->weight[i];
        }
        for (size_t i = b->first[c]; i < b->first[c + 1]; i++)
            b->weight[i] /= sqrt(norm);
    }
}

/* Clusters not yet on the path are path[n..]; the nearest one is swapped to path[n]. */
static void append_nearest(uint32_t *path, size_t n, size_t clusters, struct bags *b)
{
    uint32_t at = path[n - 1];
    double best = -1;
    size_t found = n;
    for (size_t i = b->first[at]; i < b->first[at + 1]; i++)
        b->dense[b->token[i]] = b->weight[i];
    for (size_t i = n; i < clusters; i++) {
        double dot = 0;
        for (size_t t = b->first[path[i]]; t < b->first[path[i] + 1]; t++)
            dot += b->dense[b->token[t]] * b->weight[t];
        if (dot > best || (dot == best && path[i] < path[found])) {
            best = dot;
            found = i;
        }
    }
    for (size_t i = b->first[at]; i < b->first[at + 1]; i++)
        b->dense[b->token[i]] = 0;
    uint32_t swapped = path[n];
    path[n] = path[found];
    path[found] = swapped;
}

enum err_code dataset_relate(struct dataset *d, size_t related, uint32_t vocabulary, struct err *e)
{
    struct bags b = {.vocabulary = vocabulary};
    b.dense = calloc(vocabulary, sizeof *b.dense);
    b.df = calloc(vocabulary, sizeof *b.df);
    b.first = calloc(d->clusters + 1, sizeof *b.first);
    d->path = malloc((d->clusters + 1) * sizeof *d->path);
    d->related = related;
    if (!b.dense || !b.df || !b.first || !d->path) {
        bags_free(&b);
        return err_fail(e, ERR_NOMEM, "no memory to relate %zu clusters", d->clusters);
    }
    for (size_t c = 0; c < d->clusters; c++)
        add_bag(&b, d, c);
    apply_tfidf(&b, d->clusters);
    for (size_t i = 0; i < d->clusters; i++)
        d->path[i] = (uint32_t)i;
    for (size_t n = 1; n < d->clusters; n++)
        append_nearest(d->path, n, d->clusters, &b);
    bags_free(&b);
    return OK;
}
