/* One trial of a rule: the values of both sides at many instances are compared. */
#pragma once

#include "ops/rules/check/certify.h"

struct trial_result {
    uint32_t points;   /* instances at which the sides were compared */
    uint32_t admitted; /* instances that met the conditions */
    char *witness;     /* where the sides differ; NULL: nowhere */
    char *one_sided;   /* where only one side has a value, and which; NULL: nowhere */
};

/* Tries instances until `points` of them could be compared or one refutes the rule. ERR_LIMIT: the
 * rule has too many variables. */
enum err_code trial_run(struct trial_result *out, struct arena *a, const struct rule *r,
                        const struct rule_check_options *options, struct err *e);
