/* Reading the terms and the conditions of a rule: "if positive(?a), less(?b, 1)". */
#pragma once

#include "ops/latex/read/latex.h"
#include "ops/rules/rule.h"

struct pattern_reader {
    struct arena *a;
    const struct language *lang;
    const struct source_text *source;
    const struct expr *lhs; /* whose variables terms may have; NULL: any variables */
    struct latex_reader **latex;
};

/* The term in [at, end) of the source. */
enum err_code pattern_parse(struct expr *out, const struct pattern_reader *r, size_t at, size_t end,
                            struct err *e);
/* What is asked of a term that was read from [at, end): its size and its variables. */
enum err_code pattern_check(const struct expr *x, const struct pattern_reader *r, size_t at,
                            size_t end, struct err *e);
/* The list of conditions in [at, end), separated by commas. The result is sorted and has no
 * repetitions, so the order in a rule file does not matter. */
enum err_code conditions_parse(const struct rule_condition **out, size_t *n,
                               const struct pattern_reader *r, size_t at, size_t end,
                               struct err *e);
/* Sorts conditions and drops repetitions. */
void conditions_sort(struct rule_condition *list, size_t *n);
/* ERR_INPUT if x, the term in [at, end), has a pattern variable that lhs lacks; `message` has a %s
 * for the variable's name. */
enum err_code pattern_check_bound(const struct expr *x, const struct expr *lhs,
                                  const struct source_text *source, size_t at, size_t end,
                                  const char *message, struct err *e);
