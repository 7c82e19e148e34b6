/* Parses the terms and conditions of a rule: "if positive(?a), less(?b, 1)". */
#pragma once

#include "ops/latex/read/latex.h"
#include "ops/rules/rule.h"

struct pattern_reader {
    struct arena *a;
    const struct language *lang;
    const struct source_text *source;
    const struct expr *lhs; /* left side, whose variables terms may use; NULL: any variables */
    struct latex_reader **latex;
};

/* Parses the term in [at, end) of the source. */
enum err_code pattern_parse(struct expr *out, const struct pattern_reader *r, size_t at, size_t end,
                            struct err *e);
/* Checks the size and the variables of a term that was parsed from [at, end). */
enum err_code pattern_check(const struct expr *x, const struct pattern_reader *r, size_t at,
                            size_t end, struct err *e);
/* Parses the conditions in [at, end), separated by commas. The result is sorted without duplicates,
 * so the order in a rule file does not matter. */
enum err_code conditions_parse(const struct rule_condition **out, size_t *n,
                               const struct pattern_reader *r, size_t at, size_t end,
                               struct err *e);
/* Sorts conditions and removes duplicates. */
void conditions_sort(struct rule_condition *list, size_t *n);
/* Fails with ERR_INPUT if x, the term in [at, end), has a pattern variable that lhs lacks;
 * `message` has a %s for the variable's name. */
enum err_code pattern_check_bound(const struct expr *x, const struct expr *lhs,
                                  const struct source_text *source, size_t at, size_t end,
                                  const char *message, struct err *e);
