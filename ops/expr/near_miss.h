/* Small mistakes: an expression with one operator or one number altered, as E-Gen makes the wrong
 * answers of its semantic understanding test and the wrong steps of its derivations. What comes of
 * it may still be equal to what it was: that is for equality.h to say. */
#pragma once

#include "base/rng.h"
#include "ops/expr/expr.h"

enum near_miss {
    NEAR_MISS_OPERATORS, /* alters these alone */
    NEAR_MISS_ANY,
    NEAR_MISS_ARGUMENTS, /* as any, and operands change their places */
};

enum { NEAR_MISS_ALIKE = 8 };
/* The operators that may stand in the place of this one. */
size_t near_miss_alike(uint16_t out[NEAR_MISS_ALIKE], const struct language *lang, uint16_t op);

/* Any node that can be altered is as likely as any other. An operator becomes another one of its
 * kind: + - * / pow, a trigonometric function for a trigonometric one, ...; a number loses or gets
 * a sign, or its numerator becomes another of 2..9. With arguments, half of the altered operators
 * that do not commute keep their name, and their two operands are exchanged. False if there is
 * nothing to alter. Lives in the arena. */
bool near_miss_draw(struct expr *out, struct arena *a, const struct expr *x, enum near_miss what,
                    struct rng *r);
