/* A trained encoder applied to token batches. Read-only after it is made: any number of threads
 * may embed at a time. */
#ifndef OPS_LEARN_INFER_EMBEDDER_H
#define OPS_LEARN_INFER_EMBEDDER_H

#include "ops/learn/infer/loaded.h"

struct embedder;
enum err_code embedder_new(struct embedder **out, const Eqloom__Checkpoint *c,
                           const struct chunk_io *io, struct err *e);
void embedder_free(struct embedder *em);
const struct nn_model *embedder_model(const struct embedder *em);
/* The same model, to generate by. */
const struct loaded *embedder_loaded(const struct embedder *em);
/* GPU_F32 unless this is called before the first run. */
void embedder_set_precision(struct embedder *em, enum gpu_precision precision);

/* out (sequences, d_model): one vector per sequence of the batch, of length 1 if `normalize`. The
 * arena is only used for work. */
enum err_code embedder_run(float *out, const struct embedder *em, const Eqloom__TokenBatch *batch,
                           bool normalize, struct arena *a, struct err *e);

#endif
