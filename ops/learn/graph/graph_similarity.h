/* Losses on the vectors of triplets after soft normalisation: vectors are divided by the mean plus
 * the deviation of their lengths, so that most are shorter than 1. In training these are the
 * batch's, and the gradient passes through them, as through those of a batch norm. */
#pragma once

#include "base/arena.h"
#include "ops/nn/graph/graph_model.h"

#include <stdbool.h>

enum graph_similarity {
    GRAPH_NO_SIMILARITY,
    GRAPH_TRIPLET,   /* mean of max(0, margin - s(anchor, positive) + s(anchor, negative)) */
    GRAPH_HISTOGRAM, /* Ustinova and Lempitsky (2016): of positive pairs and the batch's negative
                      * pairs; 64 bins from -1 to 1, the outer ones unbounded */
};

struct graph_lengths {
    double mean, deviation; /* n - 1 in the denominator */
};
struct graph_lengths graph_lengths_of(const float *vectors, size_t n, size_t d);
/* Reads the running lengths from a model's flat vector; moves them towards a batch's. */
struct graph_lengths graph_lengths_running(const float *flat, const struct graph_model *m);
void graph_lengths_move(float *flat, const struct graph_model *m, const struct graph_lengths *x);

/* The graphs of the vectors: anchors, their positives, their negatives. */
struct graph_batch {
    size_t triplets;
    const uint32_t *paper; /* (3 * triplets); NULL: negatives are only those of the triplets */
};

struct graph_score {
    double loss, accuracy; /* accuracy: share of triplets in order; ties count a half */
};
/* vectors (3 * batch, d): anchors, positives, negatives; not normalised. Divides them by `lengths`.
 * With `gradient`, `lengths` are the batch's, and vectors are replaced by d loss / d vectors. */
struct graph_score graph_similarity_loss(float *vectors, const struct graph_batch *b, size_t d,
                                         enum graph_similarity kind, double margin,
                                         const struct graph_lengths *lengths, bool gradient,
                                         struct arena *a);
