/* Tree edit distances from a query to the expressions whose vectors are nearest to its own. */
#pragma once

#include "ops/eval/measure/vectors.h"
#include "ops/expr/expr.h"

/* Drops constant terms of sums and differences at the root and constant factors of products and
 * quotients, alternately, until there are none; 3/f becomes 1/f, and c - f becomes f. A constant
 * has no variables; for a constant expression the result is 0. The rest is not rewritten: 2*x +
 * 2*sin(x) stays. Allocated in the arena. */
struct expr affine_core(struct arena *a, const struct expr *x);

enum { CLOSENESS_NEAR = 5 };

struct closeness {
    /* Rows of the pool whose text differs from the query's, most similar first, ties by row. */
    uint32_t row[CLOSENESS_NEAR];
    uint32_t n;
    uint32_t raw;  /* edit distance from the query to row[0] */
    uint32_t core; /* edit distance between their affine cores */
};

/* For v's row `query` in a pool, which may be v; vectors have length 1. ERR_INPUT if a text is not
 * an expression of the language, ERR_NOTFOUND if there is no other text. */
enum err_code closeness_find(struct closeness *out, struct arena *a, const struct vectors *v,
                             const struct vectors *pool, const struct language *lang,
                             uint32_t query, struct err *e);
