/* What the conditions of a rule say about the values of a term: an interval with rational ends.
 * It proves that no value can meet them, and tells where to look for those that do. */
#ifndef OPS_RULES_RANGE_H
#define OPS_RULES_RANGE_H

#include "ops/rules/rule.h"

struct range {
    const char *low, *high; /* numbers; NULL: unbounded */
    bool low_open, high_open;
    bool bounded; /* some condition puts it on the real line */
    bool nonzero, even, odd, constant, symbol;
};

struct range_conditions {
    const struct rule_condition *items;
    size_t n;
};

/* What they say together of the term t. */
void range_of_term(struct range *out, const struct range_conditions *c, const struct expr *t);
bool range_is_empty(const struct range *r);
/* Numbers in the range: its ends where they belong to it, and closer and closer to them, and
 * others between; at most max. */
size_t range_numbers(const char **out, size_t max, struct arena *a, const struct range *r);
/* Numbers about which a condition on a term over this one variable begins or ceases to hold: zeros
 * found by bisection, exact ones as what they are, and their neighbours on both sides. */
size_t range_boundaries(const char **out, size_t max, struct arena *a,
                        const struct range_conditions *c, const char *variable);

#endif
