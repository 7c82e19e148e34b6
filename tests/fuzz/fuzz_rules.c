/* The rule language, and Rust for egg if the text begins with "//": whatever the bytes, rules or
 * one error; what is read survives the way through a record. */
#include "tests/fuzz/fuzz.h"

#include "ops/rules/rule.h"

static void round_trip(struct arena *a, const struct rules *rules, const struct rule *r)
{
    Eqloom__Rule message;
    struct rule back;
    const struct language *lang = NULL; /* the record names it */
    rule_to_message(&message, a, rules, r);
    if (rule_from_message(&back, &lang, a, &message, NULL))
        __builtin_trap();
    if (back.n_conditions != r->n_conditions || back.lhs.n != r->lhs.n || back.rhs.n != r->rhs.n)
        __builtin_trap();
}

FUZZ(rules)
{
    bool egg = size > 1 && data[0] == '/' && data[1] == '/';
    struct source_text source = {egg ? "fuzz.rs" : "fuzz", (const char *)data, size};
    struct rules rules = {.lang = &lang_calculus};
    struct err e = {0};
    if (rules_parse(&rules, a, &source, &e)) {
        if (!e.message[0] || rules.n)
            __builtin_trap();
    }
    rules_sort(&rules);
    for (size_t i = 0; i < rules.n; i++)
        round_trip(a, &rules, &rules.rules[i]);
}
