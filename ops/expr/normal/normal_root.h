/* Principal roots: exponentials of fractions of principal logarithms. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* The logarithm or argument that a monomial equals: x = ln u, or i arg u; NULL if it is neither. */
const struct generator *root_logarithm(const struct field *f, const element *x);
/* Whether generator i is a principal root of some u, so that its logarithm is a fraction of ln u.
 */
bool root_is_principal(const struct field *f, size_t i);
/* If x = r - v, with r a principal root of v^2 + c and c > 0: returns r + v if its logarithm is
 * known, which is ln c - ln x; else NULL. r + v is never negative or zero: r + v = -t gives v = (c
 * - t^2)/(2 t), so that r is (c + t^2)/(2 t) and r + v is c/t. */
const element *root_area_partner(struct field *f, const element *x);

/* Replaces each generator that has a root, or occurs linearly under one, by that root: x + 2
 * sqrt(x) + 1 is (sqrt(x) + 1)^2. */
const element *square_by_roots(struct field *f, const element *x);
/* Whether x = c v^2, where c is a positive constant and v is not constant. */
bool square_of(const element **c, const element **v, struct field *f, const element *x);
