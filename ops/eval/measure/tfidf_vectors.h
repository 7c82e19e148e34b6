/* tf-idf over tokens: the baseline that knows nothing of mathematics. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "embedding.pb-c.h"
#include "token.pb-c.h"

struct tfidf {
    uint32_t dim; /* tokens */
    double *idf;
};

/* Weights ln((1 + N) / (1 + df)) + 1 from N sequences. `dim` covers all token ids below it. */
enum err_code tfidf_fit(struct tfidf *out, struct arena *a, Eqloom__TokenBatch *const *batches,
                        size_t n, uint32_t dim, struct err *e);
/* One past the greatest token id. */
uint32_t tfidf_dim(Eqloom__TokenBatch *const *batches, size_t n);
/* Counts times weights, to length 1. Lives in the arena; texts and source are borrowed. */
enum err_code tfidf_embed(Eqloom__EmbeddingBatch *out, struct arena *a, const struct tfidf *model,
                          const Eqloom__TokenBatch *batch, struct err *e);
