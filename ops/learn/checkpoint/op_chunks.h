/* The chunks of checkpoints that an op reads and emits. */
#ifndef OPS_LEARN_CHECKPOINT_OP_CHUNKS_H
#define OPS_LEARN_CHECKPOINT_OP_CHUNKS_H

#include "engine/op.h"
#include "ops/learn/checkpoint/checkpoint.h"

/* Good as long as the ctx. */
struct chunk_io op_chunks(struct op_ctx *ctx);

#endif
