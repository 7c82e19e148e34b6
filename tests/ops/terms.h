/* Terms from text, for tests of ops: what cannot be read fails the test. */
#pragma once

#include "ops/expr/compare/compare.h"
#include "tests/unit.h"

#include <math.h>

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

/* "1.2345 + 0.5 I", "undefined" */
static inline char *value_text(struct arena *a, const struct expr *x,
                               const struct ball_point *point, int digits)
{
    double re, im;
    if (!ball_value(&re, &im, x, point))
        return "undefined";
    char *real = arena_printf(a, "%#.*g", digits, re);
    char *imaginary = arena_printf(a, "%#.*g I", digits, re == 0 ? im : fabs(im));
    return im == 0   ? real
           : re == 0 ? imaginary
                     : arena_printf(a, "%s %c %s", real, im < 0 ? '-' : '+', imaginary);
}
