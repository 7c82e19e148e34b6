/* Equality of constants, proved by a separation bound: a number made of rationals, roots and sines
 * of rational angles is zero or larger than a bound computed from its expression (Burnikel, Funke,
 * Mehlhorn, Schirra, Schmitt 2009), so finitely many digits decide. A sum of logarithms and inverse
 * functions becomes a product that must be 1, and is bounded to exclude multiples of 2 pi i. */
#pragma once

#include "ops/expr/expr.h"

/* Returns false if they are different, not of this kind, or too large. */
bool algebraic_equal(const struct expr *x, const struct expr *y);
