/* The shipped rules, for tests of ops. */
#pragma once

#include "ops/rules/rule.h"
#include "tests/ops/terms.h"

/* All shipped rules of the language. */
static inline struct rules library_rules(struct arena *a, const struct language *lang)
{
    struct err e = {0};
    struct rules rules;
    if (rules_parse_library(&rules, a, lang, &e))
        fail_msg("%s:%d:%d: %s", e.input_file, e.line, e.column, e.message);
    return rules;
}

/* Those that are on unless a job says otherwise. */
static inline struct rules library_rules_on(struct arena *a, const struct language *lang)
{
    struct err e = {0};
    struct rules rules = library_rules(a, lang);
    if (rules_select(&rules, NULL, 0, NULL, 0, &e))
        fail_msg("%s", e.message);
    return rules;
}
