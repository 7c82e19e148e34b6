/* Exact comparison in the languages that have a normal form: truth tables for lang_boolean,
 * expanded polynomials over the integers for lang_polynomial. */
#pragma once

#include "ops/expr/expr.h"

enum {
    EXACT_MAX_VARIABLES = 16,
    EXACT_MAX_TERMS = 100000, /* of a polynomial; a product beyond that is not expanded */
};

struct exact_result {
    bool equal;
    uint64_t points;     /* rows of the table; 1 for polynomials */
    const char *witness; /* in the arena: "?a = true, b = false: true against false" */
};

/* Whether the language is one of these. */
bool exact_applies(const struct language *lang);
/* ERR_LIMIT: too many variables or terms, or an operator that a file declared. */
enum err_code exact_compare(struct exact_result *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e);

/* Equal terms have the same; others hardly ever. Variables with a name that one of them lacks make
 * no difference. */
uint64_t exact_fingerprint(const struct expr *x);
/* That of op applied to terms with these. */
uint64_t exact_word(const struct language *lang, uint16_t op, uint64_t left, uint64_t right);
