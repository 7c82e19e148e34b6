/* An Index record in memory: all vectors as one matrix, searched exhaustively, so that the nearest
 * are the nearest. */
#ifndef OPS_SEARCH_CORPUS_INDEX_H
#define OPS_SEARCH_CORPUS_INDEX_H

#include "base/pool.h"
#include "engine/tool.h"
#include "index.pb-c.h"
#include "ops/eval/measure/vectors.h"

struct corpus_index {
    struct arena arena;
    struct vectors v;     /* cluster: vectors of one source have one number */
    struct digest *batch; /* (batches) */
    size_t n_batches;
    size_t *first;         /* (batches + 1): row of the first vector */
    struct digest *source; /* (clusters): what they were made from; zero if unknown */
    size_t *batches_of;    /* (batches): those of cluster 0, then of cluster 1, ... */
    size_t *begin;         /* (clusters + 1): into batches_of */
};

/* Reads all batches, in parallel. */
enum err_code corpus_index_load(struct corpus_index *out, const struct tool_args *args,
                                const Eqloom__Index *index, struct pool *pool, struct err *e);
void corpus_index_free(struct corpus_index *x);

/* The k nearest to a vector (dim) of length 1, nearest first, equal ones by row; at most
 * per_cluster of each cluster (0: any number). Returns how many; out holds k. The same for any
 * number of threads. The arena is for work. */
size_t corpus_index_nearest(struct neighbour *out, size_t k, uint32_t per_cluster,
                            const struct corpus_index *x, const float *vector, struct pool *pool,
                            struct arena *a);

/* Prefix tokens of a row. */
enum err_code corpus_index_text(char **out, const struct corpus_index *x,
                                const struct tool_args *args, uint32_t row, struct arena *a,
                                struct err *e);

#endif
