/* Whether two terms are equal, without rules: by values, which refute, and by normal forms, which
 * prove. The verdict depends on the terms and the domains alone. */
#pragma once

#include "ops/expr/compare/compare.h"
#include "ops/expr/equality/exact.h"

struct decide_options {
    const struct ball_domain *domains;
    size_t n_domains;
    bool real_values; /* equal where both are real */
    bool no_forms;    /* normal forms may not prove */
};

struct decided {
    enum { DECIDED_OPEN, DECIDED_PROVED, DECIDED_REFUTED, DECIDED_NO_VALUE } verdict;
    struct ball_compare compare;
    const char *witness;   /* refuted: the point and both values */
    const char *way;       /* proved: how */
    const char *undefined; /* no value: which of the two has none, and why */
    bool exact;            /* by truth tables or expansion: `table` is filled */
    struct exact_result table;
    /* Open: no point was found at which both have values, and an operator has a value for certain
     * arguments only, so that rules may not prove either. */
    bool outside;
};

/* Texts live in the arena. */
void decide_equality(struct decided *out, struct arena *a, const struct expr *x,
                     const struct expr *y, const struct decide_options *options);
/* Whether values refute it: quick, and at fewer points than decide_equality uses. */
bool decide_differ(const struct expr *x, const struct expr *y,
                   const struct decide_options *options);
