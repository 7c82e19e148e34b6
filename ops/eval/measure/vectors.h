/* Embedded sequences with their clusters, as a matrix for clustering, retrieval and pictures. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "embedding.pb-c.h"

enum { VECTOR_LANES = 16 };
/* A compiler vector as wide as AVX2's: GCC generates poor code for wider ones. */
typedef float vector8 __attribute__((vector_size(32), aligned(4)));

struct vectors {
    uint32_t n, dim, stride; /* stride: dim rounded up to VECTOR_LANES, padded with 0 */
    float *x;                /* (n, stride) */
    uint32_t *cluster;       /* of each, numbered by first appearance */
    uint32_t n_clusters;
    const char **text; /* of each; borrowed from the batches, "" if unknown */
};

/* Sequences with the same class, or source if they have no class, are one cluster; loads at most
 * per_cluster of each (0: all). Values are in the arena; texts are borrowed. ERR_INPUT if
 * dimensions differ or there are no vectors, ERR_FAILED if a value is not finite. */
enum err_code vectors_load(struct vectors *out, struct arena *a,
                           Eqloom__EmbeddingBatch *const *batches, size_t n, uint32_t per_cluster,
                           struct err *e);
/* Removes each vector from index `first` on that has the cluster and text of an earlier one. */
void vectors_drop_copies(struct vectors *v, uint32_t first);
/* Scales to length 1; zero vectors stay zero. */
void vectors_normalize(struct vectors *v);

static inline float *vectors_at(const struct vectors *v, size_t i)
{
    return v->x + i * v->stride;
}

/* Sums in fixed lanes, so the result is the same on any machine. */
float vector_dot(const float *x, const float *y, uint32_t stride);

/* ---- the rows most similar to a query, found one after another ---- */

struct neighbour {
    float similarity; /* cosine */
    uint32_t row;
};

/* Nearest first, ties by row. */
static inline bool neighbour_is_before(const struct neighbour *a, const struct neighbour *b)
{
    return a->similarity != b->similarity ? a->similarity > b->similarity : a->row < b->row;
}

/* Inserts into a list of n in that order, which keeps at most `most` >= 1; returns the new n. */
static inline size_t neighbours_insert(struct neighbour *list, size_t n, size_t most,
                                       struct neighbour x)
{
    if (n == most && !neighbour_is_before(&x, &list[n - 1]))
        return n;
    size_t at = n < most ? n++ : n - 1;
    for (; at > 0 && neighbour_is_before(&x, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = x;
    return n;
}
