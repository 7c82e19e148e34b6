/* Reading the conditions of a rule: "if positive(?a), less(?b, 1)". */
#ifndef OPS_RULES_CONDITION_H
#define OPS_RULES_CONDITION_H

#include "ops/rules/rule.h"

/* The list of conditions in [at, end) of the source, separated by commas. The result is sorted and
 * without repetitions: the order in which a rule names its conditions means nothing. */
enum err_code condition_parse_list(const struct rule_condition **out, size_t *n, struct arena *a,
                                   const struct language *lang, const struct source_text *source,
                                   size_t at, size_t end, struct err *e);
/* Fails where a pattern variable of x, which stands in [at, end), is not one of lhs. */
enum err_code condition_check_bound(const struct expr *x, const struct expr *lhs,
                                    const struct source_text *source, size_t at, size_t end,
                                    const char *message, struct err *e);
bool pattern_has_variable(const struct expr *x, const char *name);

#endif
