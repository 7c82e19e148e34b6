/* What ops that train or use models have in common: the chunks of checkpoints, the parameter
 * `precision`, and vocabularies that must agree. */
#ifndef OPS_LEARN_CHECKPOINT_LEARN_CTX_H
#define OPS_LEARN_CHECKPOINT_LEARN_CTX_H

#include "engine/op.h"
#include "gpu/gpu.h"
#include "ops/learn/checkpoint/checkpoint.h"

/* Reads and writes the op's chunks; valid as long as the ctx. */
struct chunk_io learn_chunks(struct op_ctx *ctx);

#define LEARN_PRECISION_PARAM                                                                      \
    {                                                                                              \
        "precision", OP_ENUM, "f32", "f32|bf16",                                                   \
            .doc = "What matrix products read; sums and all else are f32. bf16 takes effect "      \
                   "where the "                                                                    \
                   "processor has units for it (AVX512-BF16, AMX), and is f32 elsewhere."          \
    }
/* Of that parameter; bf16 without units for it is f32. */
enum gpu_precision learn_precision(const struct op_ctx *ctx);
/* An op's `units`: those that multiply bf16; NULL for f32, which the numerics class covers. */
const char *learn_bf16_units(struct op_ctx *ctx);

/* Whether both records name a vocabulary, and not the same. */
bool learn_vocabularies_differ(const ProtobufCBinaryData *a, const ProtobufCBinaryData *b);
/* The id of the input under a role, to be compared or written; valid as long as the ctx. */
ProtobufCBinaryData learn_input_id(struct op_ctx *ctx, const char *role);

#endif
