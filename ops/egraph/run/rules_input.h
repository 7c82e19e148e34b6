/* Certified rules as a side input of ops. */
#pragma once

#include "engine/op.h"
#include "ops/rules/rule.h"

struct op_rules {
    struct rules rules;           /* sorted */
    const Eqloom__Rule **records; /* in the order of the input */
    bool unsound;                 /* a refuted rule was allowed */
};
/* Reads the input `rules` into an arena that outlives the ctx. `real`: those that were certified
 * where both sides are real are admitted. ERR_INPUT for a rule that is not certified, ERR_FAILED
 * for one that is refuted. */
enum err_code op_rules_read(struct op_rules *out, struct arena *a, struct op_ctx *ctx, bool real,
                            struct err *e);
