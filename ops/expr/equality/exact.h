/* Exact comparison in the languages that have a normal form: truth tables for lang_boolean,
 * expanded polynomials over the integers for lang_polynomial. */
#pragma once

#include "ops/expr/expr.h"

enum {
    EXACT_MAX_VARIABLES = 16,
    EXACT_MAX_TERMS = 100000, /* of a polynomial; larger products are not expanded */
};

struct exact_result {
    bool equal;
    uint64_t points;     /* rows of the table; 1 for polynomials */
    const char *witness; /* in the arena: "?a = true, b = false: true against false" */
};

/* Whether the language has such a normal form. */
bool exact_applies(const struct language *lang);
/* Fails with ERR_LIMIT for too many variables or terms, or a declared operator. */
enum err_code exact_compare(struct exact_result *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e);

/* Equal terms have equal fingerprints; different terms almost never do. A variable on which the
 * value does not depend makes no difference. */
uint64_t exact_fingerprint(const struct expr *x);
/* The fingerprint of op applied to terms with these fingerprints. */
uint64_t exact_word(const struct language *lang, uint16_t op, uint64_t left, uint64_t right);
