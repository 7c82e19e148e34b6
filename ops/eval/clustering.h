/* How well the labels of K-means match the clusters. */
#ifndef OPS_EVAL_CLUSTERING_H
#define OPS_EVAL_CLUSTERING_H

#include "ops/eval/vectors.h"

struct clustering_accuracy {
    /* (1/K) sum over clusters of the fraction of the cluster that has its label (E-Gen, eq. 3 and
     * 4), with the labels given to clusters one to one: so that this is greatest, or greedily, the
     * greatest fraction first. */
    double best, greedy;
};

/* Labels are below v->n_clusters. */
void clustering_measure(struct clustering_accuracy *out, struct arena *a, const struct vectors *v,
                        const uint32_t *label);

#endif
