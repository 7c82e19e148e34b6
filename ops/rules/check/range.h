/* What the conditions of a rule say about the values of a term: an interval with rational ends. It
 * proves that no value meets them, or tells where to look for values that do. */
#pragma once

#include "ops/rules/rule.h"

struct range {
    const char *low, *high; /* numbers; NULL: unbounded */
    bool low_open, high_open;
    bool real, integer, nonzero, even, odd, constant, symbol; /* as single conditions say */
};

void range_of_term(struct range *out, struct arena *a, const struct rule *r, const struct expr *t);
bool range_is_empty(const struct range *r);
/* At most `max` numbers in the range: its ends where they belong to it, numbers closer and closer
 * to them, and others between. */
size_t range_numbers(const char **out, size_t max, struct arena *a, const struct range *r);
/* Numbers at which a condition on a term in this variable alone begins or ceases to hold, with
 * their neighbours on both sides: zeros found by bisection, rational ones exactly. */
size_t range_borders(const char **out, size_t max, struct arena *a, const struct rule *r,
                     const char *variable);
