/* The parameter `precision`, f32|bf16, of ops that compute with a model. */
#ifndef OPS_LEARN_CHECKPOINT_OP_PRECISION_H
#define OPS_LEARN_CHECKPOINT_OP_PRECISION_H

#include "engine/op.h"
#include "gpu/gpu.h"

enum gpu_precision op_precision(const struct op_ctx *ctx);
/* An op's `units`: those of bf16 products; NULL for f32, of which the numerics class speaks. */
const char *op_precision_units(struct op_ctx *ctx);

#endif
