/* Certification: does a rule hold wherever its conditions do? Pattern variables range over real
 * values, and over complex ones where the conditions allow it. */
#pragma once

#include "ops/rules/rule.h"

struct rule_check_options {
    uint32_t points;
    bool real_values; /* compare the sides only where both are real */
};

/* What a rule that is not proved rests on: "g/r is not proved: it holds at 64 points". */
char *rule_basis_text(struct arena *a, const struct rule *r, const Eqloom__Certificate *c);
/* Sets also the basis of what is made with the rule. */
enum err_code rule_check(Eqloom__Certificate *out, struct arena *a, const struct rule *r,
                         const struct rule_check_options *options, struct err *e);
