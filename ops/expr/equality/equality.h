/* Whether expressions are equal to one that was prepared: by normal forms where the language has
 * them, else by their values at points. */
#pragma once

#include "ops/expr/ball/ball.h"

enum equality {
    EQUALITY_AGREES,    /* the same normal form, or the same values wherever both are defined */
    EQUALITY_REFUTED,   /* proved to be different */
    EQUALITY_UNDECIDED, /* too large, or never both defined */
};

struct equality_test {
    struct expr x;
    struct ball_reference *values; /* NULL where normal forms decide */
};

/* x is borrowed until the end of the test, and so are the options' domains. */
void equality_test_begin(struct equality_test *t, const struct expr *x,
                         const struct ball_options *options);
void equality_test_end(struct equality_test *t);
/* *witness, if asked for: of a refutation, the values that differ, in the arena; else NULL. */
enum equality equality_test_ask(const char **witness, struct arena *a, struct equality_test *t,
                                const struct expr *y);
