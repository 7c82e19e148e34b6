/* What is written like an expression of numbers and may mean something else: which readings are taken
 * in silence, with a note, or not at all. Each check returns false if it refuses. */
#pragma once

#include "ops/latex/read/latex_lists.h"

/* Letters of a font, \mathbf{A}, \mathbb{E}, \mathcal{L}, are vectors, matrices and operators as
 * often as numbers. They are read as numbers, and what holds of numbers alone is noted: */
/* a product, also of sums with such letters, commutes; */
bool latex_check_product(struct latex_reading *r, const json_t *node, struct latex_value x,
                         struct latex_value y);
/* a quotient by such a letter; */
bool latex_check_divisor(struct latex_reading *r, const json_t *node, struct latex_value x);
/* a power of a sum of two such letters, or with one as exponent; */
bool latex_check_raised(struct latex_reading *r, const json_t *node, struct latex_value base,
                        struct latex_value exponent);
/* bars, which may be a norm or a determinant. */
bool latex_check_bars(struct latex_reading *r, const json_t *node, struct latex_value x);

/* Brackets around x, whose first node is given: (\binom{n}{k}), [[x]], ||x||. */
bool latex_check_double(struct latex_reading *r, const json_t *open, const json_t *first,
                        struct latex_value x, bool argument);
/* A root with an index of what may be negative. */
bool latex_check_root(struct latex_reading *r, const json_t *node, struct latex_value x,
                      struct latex_value index);

/* Whether what comes next, after the factor `last`, is certainly its factor, with the sign that
 * stands there or without one. `over`: the factor before is a denominator. */
bool latex_check_beside(struct latex_reading *r, const struct latex_list *l,
                        struct latex_value last, const json_t *before, bool over);
/* Whether no factor follows: at the end, a bracket or bar that closes, a sign of a sum; in the bare
 * `argument` of a function also at the next function, sign or bracket. */
bool latex_ends_product(struct latex_reading *r, const json_t *node, const char *stop,
                        bool argument);
