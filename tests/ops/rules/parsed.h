/* Rules from text, for tests: what cannot be read fails the test. */
#pragma once

#include "ops/rules/rule.h"
#include "tests/unit.h"

static inline struct rules parsed_rules(struct arena *a, const char *name, const char *text)
{
    struct rules rules = {.lang = &lang_calculus};
    struct source_text source = {name, text, strlen(text)};
    struct err e = {0};
    if (rules_parse(&rules, a, &source, &e))
        fail_msg("%s:%d:%d: %s", name, e.line, e.column, e.message);
    return rules;
}
