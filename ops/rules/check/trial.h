/* One trial of a rule: compares the values of both sides at many instances. */
#pragma once

#include "ops/rules/check/certify.h"

struct trial_result {
    uint32_t points;   /* instances at which the sides were compared */
    uint32_t admitted; /* instances that satisfied the conditions */
    char *witness;     /* where the sides differ, or NULL */
    char *one_sided;   /* where only one side has a value, and which side, or NULL */
};

enum trial_points {
    TRIAL_LEVELS, /* special values and levels, until `points` have been compared */
    TRIAL_CELLS,  /* a point of each cell: of where the sides are analytic and conditions hold */
};

/* Tries instances until one refutes the rule, and adds to the result. Fails with ERR_LIMIT if the
 * rule has too many variables. */
enum err_code trial_run(struct trial_result *out, struct arena *a, const struct rule *r,
                        const struct rule_check_options *options, enum trial_points points,
                        struct err *e);
