/* Terms as quotients of polynomials in one variable, with rational coefficients. Parts in which the
 * variable does not occur are numbers, and each absolute value is replaced by its argument with
 * either sign. */
#pragma once

#include "ops/expr/expr.h"

#include <flint/fmpq_poly.h>

enum { QUOTIENT_MAX_DEGREE = 24, QUOTIENT_MAX_SIGNS = 4, QUOTIENT_MAX_BITS = 1 << 13 };

struct quotient_reader {
    uint16_t op; /* of the variable */
    const char *name;
    /* A number close to the value of a part without the variable; false if it is not real. */
    bool (*number)(fmpq_t out, void *arg, const struct expr *part);
    void *arg;
    unsigned signs; /* a bit for each absolute value: its argument is negated */
    unsigned n_signs; /* counts them */
};

struct quotient {
    fmpq_poly_t top, bottom;
};

void quotient_init(struct quotient *q);
void quotient_clear(struct quotient *q);
/* Returns false if x is none, or too large. */
bool quotient_read(struct quotient *out, struct quotient_reader *r, const struct expr *x);
