/* Terms from text, for tests of ops: what cannot be read fails the test. */
#pragma once

#include "ops/expr/expr.h"
#include "tests/unit.h"

/* Pattern variables are read as well. */
static inline struct expr infix_term(struct arena *a, const struct language *lang, const char *text)
{
    struct source_text source = {"<test>", text, strlen(text)};
    struct err e = {0};
    struct expr x;
    if (expr_parse_infix(&x, a, lang, &source, 0, source.len, true, &e))
        fail_msg("%s: %s", text, e.message);
    return x;
}

static inline struct expr prefix_term(struct arena *a, const struct language *lang,
                                      const char *text)
{
    struct err e = {0};
    struct expr x;
    if (expr_from_prefix(&x, a, lang, text, &e))
        fail_msg("%s: %s", text, e.message);
    return x;
}
