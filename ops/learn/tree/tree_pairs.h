/* Batches of pairs: of each of some classes two trees, and near misses of them, made by altering
 * one token, or exchanging two operands. A near miss may be equal to what it was made of; that is
 * for the values to say (tree_points.h). */
#pragma once

#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_points.h"

struct tree_pairs {
    const struct tree_corpus *corpus;
    uint32_t *members; /* (trees): by class */
    uint32_t *first;   /* (classes + 1): of members */
    uint32_t *classes; /* those of two trees or more */
    size_t n_classes;
};
/* In the arena; the corpus must outlive it. */
void tree_pairs_make(struct tree_pairs *out, struct arena *a, const struct tree_corpus *c);

struct tree_pairs_config {
    size_t pairs;
    double near_share; /* of the trees that have a near miss in the batch */
    uint64_t seed;
};
/* Trees 2i and 2i+1 of step `index` are of one class; behind the pairs come near misses, with
 * classes of their own. Classes come in a new order each time that all have come. In the arena. */
void tree_pairs_draw(struct tree_batch *out, struct arena *a, const struct tree_pairs *x,
                     const struct tree_model *m, const struct tree_meaning *meaning,
                     const struct tree_pairs_config *how, uint64_t index);
