/* Losses on the vectors of triplets, after soft normalisation: vectors are divided by the mean plus
 * the deviation of their lengths, so that most are shorter than 1. In training these are of the
 * batch, and the gradient goes through them, as through a batch norm's. */
#pragma once

#include "base/arena.h"
#include "ops/nn/graph/graph_model.h"

#include <stdbool.h>

enum graph_similarity {
    GRAPH_NO_SIMILARITY,
    GRAPH_TRIPLET,   /* mean of max(0, margin - s(anchor, positive) + s(anchor, negative)) */
    GRAPH_HISTOGRAM, /* Ustinova and Lempitsky (2016): of positive pairs, and of the negative pairs
                      * of the batch; 64 bins from -1 to 1; what lies beyond is at the ends */
};

struct graph_lengths {
    double mean, deviation; /* n - 1 in the denominator */
};
struct graph_lengths graph_lengths_of(const float *vectors, size_t n, size_t d);
/* The running ones of a model's flat vector, and how they move towards a batch's. */
struct graph_lengths graph_lengths_running(const float *flat, const struct graph_model *m);
void graph_lengths_move(float *flat, const struct graph_model *m, const struct graph_lengths *x);

/* What the vectors are of: anchors, their positives, their negatives. */
struct graph_batch {
    size_t triplets;
    const uint32_t *paper; /* (3 * triplets) of each; NULL: negatives are the triplets' alone */
};

struct graph_score {
    double loss, accuracy; /* accuracy: share of triplets in order; equal ones count a half */
};
/* vectors (3 * batch, d): anchors, positives, negatives; not normalised. They are scaled by
 * `lengths`; if `gradient`, these are the batch's, and the vectors become d loss / d vectors. */
struct graph_score graph_similarity_loss(float *vectors, const struct graph_batch *b, size_t d,
                                         enum graph_similarity kind, double margin,
                                         const struct graph_lengths *lengths, bool gradient,
                                         struct arena *a);
