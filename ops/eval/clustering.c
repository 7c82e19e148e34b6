/* Accuracy of a clustering; see clustering.h. */
#include "ops/eval/clustering.h"

#include "ops/eval/assignment.h"

void clustering_measure(struct clustering_accuracy *out, struct arena *a, const struct vectors *v,
                        const uint32_t *label)
{
    uint32_t k = v->n_clusters;
    double *fraction = arena_array(a, double, (size_t)k *k);
    uint32_t *size = arena_array(a, uint32_t, k), *column = arena_array(a, uint32_t, k);
    for (uint32_t i = 0; i < v->n; i++)
        size[v->cluster[i]]++;
    for (uint32_t i = 0; i < v->n; i++)
        fraction[(size_t)v->cluster[i] * k + label[i]] += 1;
    for (uint32_t c = 0; c < k; c++)
        for (uint32_t l = 0; l < k && size[c]; l++)
            fraction[(size_t)c * k + l] /= size[c];
    *out = (struct clustering_accuracy){0};
    assignment_best(column, fraction, k);
    for (uint32_t c = 0; c < k; c++)
        out->best += fraction[(size_t)c * k + column[c]] / k;
    assignment_greedy(column, fraction, k);
    for (uint32_t c = 0; c < k; c++)
        out->greedy += fraction[(size_t)c * k + column[c]] / k;
}
