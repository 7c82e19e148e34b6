/* What the ops that divide equations by their papers have in common. A hash of the paper's name
 * says which part it is in: a paper that comes or goes moves no other. */
#pragma once

#include "engine/op.h"

extern const struct op_param paper_split_params[];
enum err_code paper_split_check(struct op_ctx *ctx, struct err *e);
/* Elements of `role`, summarized by equation_place_summarize, to the outputs train, valid, test. */
enum err_code paper_split_run(struct op_ctx *ctx, const char *role, struct err *e);
