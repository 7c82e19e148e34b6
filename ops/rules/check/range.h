/* The range of a term under the conditions of a rule: an interval with rational bounds. It proves
 * that no value satisfies them, or guides the search for values that do. */
#pragma once

#include "ops/rules/rule.h"

struct range {
    const char *low, *high; /* numbers; NULL if unbounded */
    bool low_open, high_open;
    bool real, integer, nonzero, even, odd, constant, symbol; /* demanded by single conditions */
};

void range_of_term(struct range *out, struct arena *a, const struct rule *r, const struct expr *t);
bool range_is_empty(const struct range *r);
