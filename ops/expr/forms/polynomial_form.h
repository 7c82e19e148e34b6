/* An expression as a rational function of its atoms, written another way. Atoms are the symbols and
 * whatever no ring operation makes: functions, roots, powers with exponents that are no small
 * integers; their arguments are written the same way. By FLINT's polynomials over the integers. */
#pragma once

#include "ops/expr/expr.h"

enum polynomial_form {
    FORM_EXPAND, /* a sum of monomials, each over its denominator: (x + 1)/x is 1 + 1/x */
    FORM_FACTOR, /* a product of powers of irreducible factors, over another */
    FORM_CANCEL, /* a quotient of expanded polynomials without a common factor */
};

/* False: it is too large, or not of the calculus. Lives in the arena. */
bool polynomial_form(struct expr *out, struct arena *a, const struct expr *x,
                     enum polynomial_form form);
