/* A trained encoder applied to token batches. */
#pragma once

#include "ops/learn/infer/loaded.h"

/* out (sequences, d_model): one vector per sequence of the batch, of length 1 if `normalize`. The
 * arena serves as working memory only. */
enum err_code embedder_run(float *out, const struct loaded *m, const Eqloom__TokenBatch *batch,
                           bool normalize, struct arena *a, struct err *e);
