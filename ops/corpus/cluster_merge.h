/* Clusters whose seeds are equal become one: a pair taken for different would be a lie. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cluster.pb-c.h"

struct merge_options {
    uint32_t max_members;           /* of a merged cluster; clusters that stay alone are not cut */
    uint32_t points;                /* at which seeds are compared */
    Eqloom__Cluster *const *except; /* what is equal to the seed of one of these is left out */
    size_t n_except;
    /* Where clusters are given without members: the fingerprints of their seeds, those of `except`
     * last, and what gives the whole of cluster i, for one that is joined. Both or neither. */
    const double *fingerprints;
    enum err_code (*load)(void *arg, Eqloom__Cluster **whole, size_t i, struct err *e);
    void *arg;
};

/* A number that depends smoothly on the seed's values: equal seeds have nearly equal ones. */
enum err_code cluster_fingerprint(double *out, struct arena *a, const Eqloom__Expr *seed,
                                  struct err *e);

/* Clusters live in the arena; those that stay alone are the input's. A merged cluster stands where
 * the first of its parts stood; its seed is the least of theirs (expr_compare) and its members are
 * taken from the parts in turns, the seed's part first. only[i] (`only` may be NULL): which one of
 * the input out[i] is, or UINT32_MAX if it was joined from several. */
enum err_code clusters_merge(Eqloom__Cluster ***out, uint32_t **only, size_t *n_out,
                             struct arena *a, Eqloom__Cluster *const *in, size_t n,
                             const struct merge_options *options, struct err *e);
