/* Signs and analyticity of elements. */
#pragma once

#include "ops/expr/normal/normal_field.h"

/* Whether x is meromorphic, or analytic, on the whole, connected, domain of its variables. */
bool sign_is_meromorphic(const struct field *f, const element *x);
bool sign_is_smooth(struct field *f, const element *x);
/* Whether p has a known sign and no zeros. */
bool sign_is_strict(struct field *f, const fmpz_mpoly_t p);
/* The sign of a real element. */
int sign_of(struct field *f, const element *x);
/* As sign_of, if x is zero nowhere; else 0. */
int sign_strictly(struct field *f, const element *x);
/* Whether x is known to be zero on no open set, which a step function or a difference such as
 * |v| - v may be without being zero everywhere. */
bool sign_has_sparse_zeros(struct field *f, const element *x);
