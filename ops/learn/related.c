/* The path of related clusters; see dataset_relate. A cluster is the bag of its members' tokens,
 * weighted by how few clusters use each, to length 1. The path begins at the first cluster and goes
 * on to the nearest by cosine that it has not visited, equal ones by position: quadratic, some
 * seconds for ten thousand clusters, and the same on any machine. */
#include "ops/learn/dataset.h"

#include <math.h>
#include <stdlib.h>

/* bags (clusters, vocabulary), zeroed; df (vocabulary), zeroed. */
static void fill_bags(double *bags, double *df, const struct dataset *d, uint32_t vocabulary)
{
    for (size_t c = 0; c < d->clusters; c++) {
        double *bag = bags + c * vocabulary, norm = 0;
        for (size_t i = d->first[c]; i < d->first[c + 1]; i++)
            for (size_t t = d->offset[d->member[i]]; t < d->offset[d->member[i] + 1]; t++)
                bag[d->tokens[t]]++;
        for (uint32_t v = 0; v < vocabulary; v++) {
            df[v] += bag[v] > 0;
            norm += bag[v];
        }
        for (uint32_t v = 0; v < vocabulary && norm > 0; v++)
            bag[v] /= norm;
    }
}

static void weight_bags(double *bags, const double *df, size_t clusters, uint32_t vocabulary)
{
    for (size_t c = 0; c < clusters; c++) {
        double *bag = bags + c * vocabulary, norm = 0;
        for (uint32_t v = 0; v < vocabulary; v++) {
            bag[v] *= log((1 + (double)clusters) / (1 + df[v])) + 1;
            norm += bag[v] * bag[v];
        }
        for (uint32_t v = 0; v < vocabulary && norm > 0; v++)
            bag[v] /= sqrt(norm);
    }
}

/* Of those not yet on the path, which are path[n..]; swapped to its place there. */
static void visit_nearest(uint32_t *path, size_t n, size_t clusters, const double *bags,
                          uint32_t vocabulary)
{
    const double *from = bags + (size_t)path[n - 1] * vocabulary;
    double best = -1;
    size_t found = n;
    for (size_t i = n; i < clusters; i++) {
        const double *to = bags + (size_t)path[i] * vocabulary;
        double dot = 0;
        for (uint32_t v = 0; v < vocabulary; v++)
            dot += from[v] * to[v];
        if (dot > best || (dot == best && path[i] < path[found])) {
            best = dot;
            found = i;
        }
    }
    uint32_t swapped = path[n];
    path[n] = path[found];
    path[found] = swapped;
}

enum err_code dataset_relate(struct dataset *d, size_t related, uint32_t vocabulary, struct err *e)
{
    double *bags = calloc(d->clusters * vocabulary + 1, sizeof *bags);
    double *df = calloc(vocabulary, sizeof *df);
    d->path = malloc((d->clusters + 1) * sizeof *d->path);
    d->related = related;
    if (!bags || !df || !d->path) {
        free(bags);
        free(df);
        return err_fail(e, ERR_NOMEM, "no memory to relate %zu clusters", d->clusters);
    }
    fill_bags(bags, df, d, vocabulary);
    weight_bags(bags, df, d->clusters, vocabulary);
    for (size_t i = 0; i < d->clusters; i++)
        d->path[i] = (uint32_t)i;
    for (size_t n = 1; n < d->clusters; n++)
        visit_nearest(d->path, n, d->clusters, bags, vocabulary);
    free(bags);
    free(df);
    return OK;
}
