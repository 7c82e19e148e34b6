/* Evaluates the nodes of trees at some points, in double precision: the training values of a
 * network of functions, and the vectors of op embed-values. A node has nine numbers at a point, NAN if unknown: real and imaginary part
 * of its value; the logarithm of its absolute value; its direction, two numbers; real and imaginary
 * part of the derivative by x, and of that divided by the value. Large ones are compressed by
 * arsinh, and all are bounded by 2.
 *
 * Variables are positive: at point p, x is 0.19 * 24^(p/(P-1)), and another variable has the value
 * of x at another point. Functions have their principal values; real arguments are on the upper
 * side of a cut. Derivatives, including d, are central differences. */
#pragma once

#include "ops/nn/tree/tree_lists.h"
#include "token.pb-c.h"

enum { TREE_ENCODED = 36 };

struct tree_meaning {
    uint16_t op; /* enum expr_op; X_VAR: no operator */
    double number;
    uint32_t variable; /* 0: x */
};
/* Returns the meanings by token, in the arena. */
struct tree_meaning *tree_meanings(struct arena *a, const Eqloom__Vocabulary *v);

/* Computes out (nodes - roots, TREE_VALUES). */
void tree_points_evaluate(float *out, struct arena *a, const struct tree_lists *x,
                          const struct tree_model *m, const struct tree_meaning *meaning);
/* Encodes the values: out (nodes - roots, TREE_ENCODED), the sines and cosines of 1, 2, 4, ... 256
 * times half the arsinh of real and imaginary part; zeros where the value is unknown. */
void tree_points_encode(float *out, struct arena *a, const struct tree_lists *x,
                        const struct tree_model *m, const struct tree_meaning *meaning);
/* Returns true if two trees' values (points, TREE_VALUES) differ at a point. */
bool tree_points_differ(const float *x, const float *y, uint32_t points);
