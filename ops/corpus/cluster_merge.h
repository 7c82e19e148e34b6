/* Clusters whose seeds are equal become one: a pair taken for different would be a lie. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cluster.pb-c.h"

struct merge_options {
    uint32_t max_members;       /* of a merged cluster; clusters that stay alone are not cut */
    uint32_t points;            /* at which seeds are compared */
    const double *fingerprints; /* of the clusters' seeds */
    /* Where clusters are given by their seeds alone: gives the whole of cluster i, for one that is
     * joined; else NULL. */
    enum err_code (*load)(void *arg, Eqloom__Cluster **whole, size_t i, struct err *e);
    void *arg;
};

/* A number that depends smoothly on the seed's values: equal seeds have nearly equal ones. */
enum err_code cluster_fingerprint(double *out, struct arena *a, const Eqloom__Expr *seed,
                                  struct err *e);

/* In the arena; clusters that stay alone are the input's. A merged cluster stands where the first
 * of its parts stood; its seed is the least of theirs (expr_compare) and its members are taken from
 * the parts in turns, the seed's part first. */
struct merged {
    Eqloom__Cluster **clusters;
    uint32_t *only; /* which one of the input it is, or UINT32_MAX: it was joined from several */
    size_t n;
};
/* All have seeds. What is equal to one of the last n_except is left out. */
enum err_code clusters_merge(struct merged *out, struct arena *a, Eqloom__Cluster **in, size_t n,
                             size_t n_except, const struct merge_options *options, struct err *e);
