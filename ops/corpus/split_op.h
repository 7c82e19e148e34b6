/* What the ops that split have in common. */
#ifndef OPS_CORPUS_SPLIT_OP_H
#define OPS_CORPUS_SPLIT_OP_H

#include "engine/op.h"
#include "ops/corpus/split_part.h"

/* Their outputs, by part. */
extern const char *const split_names[SPLIT_PARTS];

/* The parameters `valid` and `test` must leave room for each other. */
enum err_code split_check(struct op_ctx *ctx, struct err *e);

#endif
