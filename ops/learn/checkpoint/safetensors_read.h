/* Models in safetensors files, read: eight bytes of length, a JSON header of that length with name
 * -> {dtype, shape, data_offsets}, and the values. */
#ifndef OPS_LEARN_CHECKPOINT_SAFETENSORS_READ_H
#define OPS_LEARN_CHECKPOINT_SAFETENSORS_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"
#include "ops/nn/model.h"

/* The configuration as text (Checkpoint.architecture): from the JSON that is exported beside the
 * tensors if it is given, else from the file's own metadata. */
enum err_code safetensors_architecture(char **out, struct arena *a, const struct source_text *file,
                                       const struct source_text *config, struct err *e);
/* weights (m->total), zeroed: every parameter, of the model's shape and of
 * type F32, or F64, F16 or BF16, which become f32; no other tensor. */
enum err_code safetensors_weights(float *weights, const struct nn_model *m,
                                  const struct source_text *file, struct err *e);

#endif
