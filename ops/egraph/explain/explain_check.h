/* Between the files that check explanations: which rule a step is an instance of, and by what. */
#ifndef OPS_EGRAPH_EXPLAIN_EXPLAIN_CHECK_H
#define OPS_EGRAPH_EXPLAIN_EXPLAIN_CHECK_H

#include "ops/egraph/graph/egraph.h"
#include "ops/expr/ball/ball.h"

enum { SUBSTITUTION_MAX = 64 };
struct substitution {
    size_t n;
    const char *name[SUBSTITUTION_MAX];
    struct expr value[SUBSTITUTION_MAX];
};

/* The parts of the terms that a step joins, as its rule is written: left side, right side. */
void explain_step_sides(struct expr *from, struct expr *to, const struct explain_step *s,
                        const struct expr *before);
/* The rule that a step names, if the step is an instance of it; NULL otherwise. */
const struct rule *explain_step_rule(struct substitution *out, const struct explain_step *s,
                                     const struct expr *before, const struct rules *rules);
/* Whether x, where it has a value, may be real and within [lo, hi]: asked of numbers at points.
 * Nothing is said of operators without a meaning (`interpreted` false: of any). */
enum err_code explain_check_interval(const struct expr *x, double lo, double hi, bool interpreted,
                                     struct err *e);

#endif
