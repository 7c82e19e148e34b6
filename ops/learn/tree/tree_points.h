/* What the nodes of trees are worth at some points: the values that a network of functions is
 * taught, in double precision. A node has nine numbers at a point, NAN where they are not known:
 * real and imaginary part of its value; the logarithm of the value's size; its direction, two
 * numbers; real and imaginary part of the derivative by x, alone and divided by the value. Large
 * ones are compressed by arsinh, and all are bounded by 2.
 *
 * Variables are positive: at point p x is 0.19 * 24^(p/(P-1)), another variable what x is at
 * another point. Functions have their principal values, and what is real is on the upper side of a
 * cut. Derivatives, d too, are central differences. */
#pragma once

#include "ops/nn/tree/tree_lists.h"
#include "token.pb-c.h"

struct tree_meaning {
    uint16_t op; /* enum expr_op; X_VAR: it has none */
    double number;
    uint32_t variable; /* 0: x */
};
/* By token, in the arena. */
struct tree_meaning *tree_meanings(struct arena *a, const Eqloom__Vocabulary *v);

/* out (nodes - roots, TREE_VALUES) */
void tree_points_evaluate(float *out, struct arena *a, const struct tree_lists *x,
                          const struct tree_model *m, const struct tree_meaning *meaning);
/* The same values as a network may be told them: out (nodes - roots, TREE_INPUTS), four times sines
 * and cosines of 1, 2, 4, ... 256 times the halves of the arsinh of real and imaginary part; zeros
 * where the value is not known. */
void tree_points_encode(float *out, struct arena *a, const struct tree_lists *x,
                        const struct tree_model *m, const struct tree_meaning *meaning);
/* Whether two trees' values (points, TREE_VALUES) differ at a point. */
bool tree_points_differ(const float *x, const float *y, uint32_t points);
