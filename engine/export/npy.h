/* Embeddings as a NumPy matrix (.npy 1.0, float32, rows in order) with an index of the rows: one
 * JSON object per line, {"row":0,"batch":0,"source":"<id>","text":"..."}. */
#pragma once

#include "base/err.h"
#include "embedding.pb-c.h"

#include <stdint.h>
#include <stdio.h>

struct npy {
    FILE *matrix, *index; /* matrix must be seekable: the header is written again at the end */
    uint64_t rows, batches;
    uint32_t dim;
};

void npy_begin(struct npy *out, FILE *matrix, FILE *index);
/* ERR_CORRUPT if the batch is inconsistent in itself or with earlier batches. */
enum err_code npy_add(struct npy *n, const Eqloom__EmbeddingBatch *batch, struct err *e);
enum err_code npy_end(struct npy *n, struct err *e);
