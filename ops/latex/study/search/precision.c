#include "ops/latex/study/search/precision.h"

#include <math.h>
#include <stdlib.h>

const size_t precision_cuts[PRECISION_CUTS] = {10, 100, PRECISION_DEPTH};

struct precision precision_of(const bool *relevant, size_t n)
{
    struct precision p = {0};
    double found = 0;
    n = n < PRECISION_DEPTH ? n : PRECISION_DEPTH;
    for (size_t i = 0; i < n; i++) {
        double rank = (double)i + 1;
        found += relevant[i];
        p.umap += relevant[i] ? found / rank : 0;
        for (int c = 0; c < PRECISION_CUTS; c++)
            if (i < precision_cuts[c])
                p.at[c] = found / rank;
    }
    return p;
}

struct member {
    double x;
    uint32_t cluster;
};

static int compare(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    return a->cluster != b->cluster ? (a->cluster > b->cluster) - (a->cluster < b->cluster)
                                    : (a->x > b->x) - (a->x < b->x);
}

double clustered_mean(double *error, const double *x, const uint32_t *cluster, size_t n,
                      struct arena *a)
{
    struct member *members = arena_array(a, struct member, n + 1);
    double mean = 0, squares = 0, sum = 0;
    size_t clusters = 0;
    for (size_t i = 0; i < n; i++) {
        members[i] = (struct member){x[i], cluster[i]};
        mean += x[i] / (double)n;
    }
    if (n)
        qsort(members, n, sizeof *members, compare);
    for (size_t i = 0; i < n; i++) {
        sum += members[i].x - mean;
        if (i + 1 < n && members[i + 1].cluster == members[i].cluster)
            continue;
        squares += sum * sum;
        sum = 0;
        clusters++;
    }
    *error =
        clusters > 1 ? sqrt(squares * (double)clusters / (double)(clusters - 1)) / (double)n : 0;
    return mean;
}
