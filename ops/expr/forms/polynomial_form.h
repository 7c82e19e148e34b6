/* An expression rewritten as a rational function of its atoms. Atoms are the symbols and all
 * subterms that are not ring operations: functions, roots, powers whose exponents are not small
 * integers; their arguments are rewritten the same way. Uses FLINT's polynomials over the integers.
 */
#pragma once

#include "ops/expr/expr.h"

enum polynomial_form {
    FORM_EXPAND, /* a sum of monomials, each over the denominator: (x + 1)/x is 1 + 1/x */
    FORM_FACTOR, /* a product of powers of irreducible factors, over another such product */
    FORM_CANCEL, /* a quotient of expanded polynomials without a common factor */
};

/* Returns false if x is too large or not of the calculus. The result is in the arena. */
bool polynomial_form(struct expr *out, struct arena *a, const struct expr *x,
                     enum polynomial_form form);
