/* How close to a query, as a tree, is the expression that is nearest by vectors? */
#pragma once

#include "ops/eval/measure/vectors.h"
#include "ops/expr/expr.h"

/* Along sums and differences at the root constant terms are dropped, along products and quotients
 * constant factors, in turn, until there are none; 3/f is 1/f, and c - f is f. A constant is what
 * has no variable; an expression that is one gives 0. How the rest is written is left as it is: 2*x
 * + 2*sin(x) stays. Lives in the arena. */
struct expr affine_core(struct arena *a, const struct expr *x);

enum { CLOSENESS_NEAR = 5 };

struct closeness {
    /* Rows of the pool: the most similar with another text than the query's, of equals the first
     * ones, in this order. */
    uint32_t row[CLOSENESS_NEAR];
    uint32_t n;
    uint32_t raw;  /* edits from the query to the first */
    uint32_t core; /* the same of what affine_core leaves of both */
};

/* Of v's row `query` in a pool, which may be v; vectors have length 1. ERR_INPUT if a text is no
 * expression of the language, ERR_NOTFOUND if there is no other text. */
enum err_code closeness_find(struct closeness *out, struct arena *a, const struct vectors *v,
                             const struct vectors *pool, const struct language *lang,
                             uint32_t query, struct err *e);
