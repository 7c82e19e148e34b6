/* Certified rules as a side input of ops. */
#pragma once

#include "engine/op.h"
#include "ops/egraph/graph/egraph.h"

struct op_rules {
    struct rules rules;           /* sorted */
    struct ruleset *set;          /* the same, compiled: see op_rules_prepare */
    const Eqloom__Rule **records; /* in the order of the input */
    bool unsound;                 /* a refuted rule was allowed */
};
/* Reads the input `rules` into an arena that outlives the ctx. `real`: those that were certified
 * where both sides are real are admitted. ERR_INPUT for a rule that is not certified, ERR_FAILED
 * for one that is refuted. */
enum err_code op_rules_read(struct op_rules *out, struct arena *a, struct op_ctx *ctx, bool real,
                            struct err *e);

/* As `prepare` of an op that has nothing but certified rules: *state is a struct op_rules_state,
 * with the rules compiled. `true_ones`: NULL, or why a refuted rule (allow_unsound) is ERR_INPUT.
 */
struct op_rules_state {
    struct arena arena;
    struct op_rules rules;
};
enum err_code op_rules_prepare(void **state, struct op_ctx *ctx, const char *true_ones,
                               struct err *e);
void op_rules_release(void *state);
