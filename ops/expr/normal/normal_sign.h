/* What is known of the values of an element: its sign, whether it is analytic. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* Whether it is meromorphic, or even analytic, on the whole domain of its variables, which is
 * connected. */
bool sign_is_meromorphic(const struct field *f, const element *x);
bool sign_is_smooth(struct field *f, const element *x);
/* Whether it has a known sign and is zero nowhere. */
bool sign_is_strict(struct field *f, const fmpz_mpoly_t p);
/* The same of a real element. */
int sign_of(struct field *f, const element *x);
/* The same, where it is zero nowhere. */
int sign_strictly(struct field *f, const element *x);
