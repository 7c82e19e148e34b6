/* Models in safetensors files, read: eight bytes of length, a JSON header of that length with name
 * -> {dtype, shape, data_offsets}, and the values. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"
#include "ops/nn/model.h"

/* The configuration as text (Checkpoint.architecture), from the file's metadata. */
enum err_code safetensors_architecture(char **out, struct arena *a, const struct source_text *file,
                                       struct err *e);
/* weights (t->total), zeroed: every parameter, of the model's shape, as F32; no other tensor. */
enum err_code safetensors_weights(float *weights, const struct nn_table *t,
                                  const struct source_text *file, struct err *e);
