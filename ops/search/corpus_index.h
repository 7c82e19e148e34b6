/* An Index record in memory: all vectors as one matrix, searched exhaustively, so that the nearest
 * are the nearest. */
#pragma once

#include "engine/tool.h"
#include "index.pb-c.h"
#include "ops/eval/measure/vectors.h"
#include "ops/expr/lang.h"

struct corpus_index {
    struct arena arena;
    struct vectors v; /* cluster: vectors of one source have one number; text: prefix tokens */
    const struct language *lang; /* of all texts */
    struct digest *source;       /* (clusters): what they were made from; zero if unknown */
};

enum err_code corpus_index_load(struct corpus_index *out, const struct tool_args *args,
                                const Eqloom__Index *index, struct err *e);
void corpus_index_free(struct corpus_index *x);

/* The k nearest to a vector (dim) of length 1, nearest first, equal ones by row; at most
 * per_cluster of each cluster (0: any number). Returns how many; out holds k. The arena is for
 * work. */
size_t corpus_index_nearest(struct neighbour *out, size_t k, uint32_t per_cluster,
                            const struct corpus_index *x, const float *vector, struct arena *a);
