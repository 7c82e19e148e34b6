/* Equality of constants, proved by a separation bound: a number made of rationals, roots and sines
 * of rational angles is zero or larger than a bound that its expression gives (Burnikel, Funke,
 * Mehlhorn, Schirra, Schmitt 2009), so enough digits decide. Sums of logarithms and inverse
 * functions become a product that must be 1, of a size that leaves no turn. */
#pragma once

#include "ops/expr/expr.h"

/* False: not equal, not of this kind, or too large. */
bool algebraic_equal(const struct expr *x, const struct expr *y);
