/* Tests expressions for equality with a prepared one: by normal form in languages that have one,
 * else by values at points. */
#pragma once

#include "ops/expr/compare/compare.h"

enum equality {
    EQUALITY_AGREES,    /* the same normal form, or the same values wherever both are defined */
    EQUALITY_REFUTED,   /* proved to be different */
    EQUALITY_UNDECIDED, /* too large, or never both defined */
};

struct equality_test {
    struct expr x;
    struct ball_reference *values; /* NULL where normal forms decide */
};

/* Borrows x and the domains of the options until equality_test_end. */
void equality_test_begin(struct equality_test *t, const struct expr *x,
                         const struct ball_options *options);
void equality_test_end(struct equality_test *t);
/* Unless `witness` is NULL, *witness is set to the differing values of a refutation, in the arena,
 * or to NULL. */
enum equality equality_test_ask(const char **witness, struct arena *a, struct equality_test *t,
                                const struct expr *y);
