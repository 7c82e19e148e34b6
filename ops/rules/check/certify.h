/* Certification: does a rule hold wherever its conditions do? Pattern variables range over real
 * values, and over complex ones where the conditions allow it. */
#pragma once

#include "ops/rules/rule.h"

struct rule_check_options {
    uint32_t points;
    uint64_t seed;
    bool real_values; /* compare the sides only where both are real */
};

enum err_code rule_check(Eqloom__Certificate *out, struct arena *a, const struct rule *r,
                         const struct rule_check_options *options, struct err *e);
