/* Internal to op train: its parameters as configurations, and its segments.
 *
 * Segment 0 of the chain is the initialised model; segment i > 0 makes the steps (i-1) * segment ..
 * min(i * segment, steps). A segment's key holds only what its steps depend on, so that a longer
 * training continues a shorter one. */
#pragma once

#include "engine/op.h"
#include "ops/learn/train/learner.h"
#include "ops/learn/transformer/transformer_training.h"

extern const struct op_param train_params[];

struct nn_config train_model(const struct op_ctx *ctx, uint32_t vocabulary);
struct transformer_config train_config(const struct op_ctx *ctx);

enum err_code train_check(struct op_ctx *ctx, struct err *e);
/* ERR_INPUT if the role's data have no examples for the objective. */
enum err_code train_enough(const struct dataset *d, const struct op_ctx *ctx, const char *role,
                           struct err *e);

/* The op's `segment`. */
enum err_code train_segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                            struct err *e);
