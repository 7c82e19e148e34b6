/* Near misses: an expression with one operator or number changed, as E-Gen makes the wrong answers
 * of its semantic understanding test and the wrong steps of its derivations. The result may still
 * be equal to the original; callers check that with equality.h. */
#pragma once

#include "base/rng.h"
#include "ops/expr/expr.h"

enum near_miss {
    NEAR_MISS_OPERATORS, /* changes operators only */
    NEAR_MISS_ANY,
    NEAR_MISS_ARGUMENTS, /* as NEAR_MISS_ANY, and may swap operands */
};

enum { NEAR_MISS_ALIKE = 8 };
/* The operators that may replace this one. */
size_t near_miss_alike(uint16_t out[NEAR_MISS_ALIKE], const struct language *lang, uint16_t op);

/* Chooses uniformly among the nodes that can be changed. An operator becomes another of its kind: +
 * - * / pow, a trigonometric function, ...; a number changes its sign, or its numerator becomes
 * another of 2..9. With NEAR_MISS_ARGUMENTS, half of the changed non-commutative operators keep
 * their name and have their operands swapped. Returns false if nothing can be changed. The result
 * is in the arena. */
bool near_miss_draw(struct expr *out, struct arena *a, const struct expr *x, enum near_miss what,
                    struct rng *r);
