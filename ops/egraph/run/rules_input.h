/* Certified rules as an additional input of ops. */
#pragma once

#include "engine/op.h"
#include "ops/egraph/graph/egraph.h"

struct op_rules {
    struct rules rules;           /* sorted */
    struct ruleset *set;          /* `rules`, compiled by op_rules_prepare */
    const Eqloom__Rule **records; /* in input order */
    Eqloom__Basis basis;          /* that of the weakest rule */
};
/* Reads the input `rules` into an arena that outlives the ctx. `real` admits rules that were
 * certified where both sides are real. Fails with ERR_INPUT for a rule that is not certified, with
 * ERR_FAILED for one that is refuted. */
enum err_code op_rules_read(struct op_rules *out, struct arena *a, struct op_ctx *ctx, bool real,
                            struct err *e);

/* The `prepare` of an op that needs only certified rules: *state becomes a struct op_rules_state,
 * with the rules compiled. If `true_ones` is not NULL, a refuted rule (allow_unsound) fails with
 * ERR_INPUT, and this is the reason in the message. */
struct op_rules_state {
    struct arena arena;
    struct op_rules rules;
};
enum err_code op_rules_prepare(void **state, struct op_ctx *ctx, const char *true_ones,
                               struct err *e);
void op_rules_release(void *state);
