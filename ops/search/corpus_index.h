/* An Index record in memory: all vectors as one matrix, searched exhaustively, so that results are
 * exact. */
#pragma once

#include "engine/tool.h"
#include "index.pb-c.h"
#include "ops/eval/measure/vectors.h"
#include "ops/expr/lang.h"

struct corpus_index {
    struct arena arena;
    struct vectors v; /* cluster: one number for all vectors of one source; text: prefix tokens */
    const struct language *lang; /* of all texts */
    struct digest *source; /* (clusters), the record that each was made from; zero if unknown */
};

enum err_code corpus_index_load(struct corpus_index *out, const struct tool_args *args,
                                const Eqloom__Index *index, struct err *e);
void corpus_index_free(struct corpus_index *x);

/* Finds the k nearest to a vector (dim) of length 1, nearest first, ties by row, with at most
 * per_cluster of each cluster (0: no limit). Returns their number; out has room for k. The arena is
 * scratch memory. */
size_t corpus_index_nearest(struct neighbour *out, size_t k, uint32_t per_cluster,
                            const struct corpus_index *x, const float *vector, struct arena *a);
