/* Between the files of certification. */
#ifndef OPS_RULES_CHECK_H
#define OPS_RULES_CHECK_H

#include "ops/rules/rule.h"

/* Whether the rule holds at enough instances if further conditions are asked. */
bool rule_holds_if(struct arena *a, const struct rule *r, const struct rule_condition *more,
                   size_t n_more, const struct rule_check_options *options);
/* Conditions under which a refuted rule holds, as text ("positive(?a), real(?b)"), the weakest of
 * those that are tried; NULL if none does. */
const char *rule_suggest_guard(struct arena *a, const struct rule *r,
                               const struct rule_check_options *options);
/* Why no values at all can meet the conditions; NULL if that is not known. */
const char *rule_conditions_contradict(struct arena *a, const struct rule *r);
/* Whether there is anything to vary in it. */
bool rule_has_variables(const struct rule *r);

#endif
