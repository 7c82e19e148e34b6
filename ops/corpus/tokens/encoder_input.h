/* Shared by the ops that make token batches: the side input `vocabulary`, read once, and the output
 * `batches`. */
#pragma once

#include "engine/op.h"
#include "ops/corpus/tokens/encoding.h"

/* For op.prepare and op.release of maps: the state is a struct encoder. */
enum err_code op_encoder_prepare(void **state, struct op_ctx *ctx, struct err *e);
void op_encoder_release(void *state);
/* Emits the batch of a map's element, which is the input `source`. */
enum err_code op_encoder_emit(struct op_ctx *ctx, Eqloom__TokenBatch *batch, const char *source,
                              struct err *e);
