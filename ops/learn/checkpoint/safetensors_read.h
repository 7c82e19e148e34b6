/* Reads models from safetensors files: eight bytes with the header's length, a JSON header (name ->
 * {dtype, shape, data_offsets}), and the values. As the format demands, the tensors fill what
 * follows the header without a hole or an overlap, and no key occurs twice. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"
#include "ops/nn/transformer/model.h"

/* Reads the configuration as text (Checkpoint.architecture) from the file's metadata. */
enum err_code safetensors_architecture(char **out, struct arena *a, const struct source_text *file,
                                       struct err *e);
/* Reads weights (t->total), zeroed by the caller. The file must hold exactly the model's
 * parameters, as F32 and with the model's shapes. */
enum err_code safetensors_weights(float *weights, const struct nn_table *t,
                                  const struct source_text *file, struct err *e);
