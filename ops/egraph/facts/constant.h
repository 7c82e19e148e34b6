/* Exact rational constants, interned: equal values have equal ids. Only this module uses GMP here.
 * Values of more than CONSTANT_MAX_DIGITS digits are not folded, so nothing overflows. */
#pragma once

#include "base/map.h"

#include <gmp.h>

#define NO_CONSTANT UINT32_MAX
enum { CONSTANT_MAX_DIGITS = 64 };

struct constants {
    mpq_t *values;
    char **texts; /* "-4", "3/2" */
    size_t n, values_cap, texts_cap;
    struct name_map by_text;
};

void constant_free(struct constants *t);
/* Returns NO_CONSTANT unless the text is an integer or a fraction with a nonzero denominator. */
uint32_t constant_parse(struct constants *t, const char *text);
const char *constant_text(const struct constants *t, uint32_t id);
/* Returns the value of op (an enum expr_op) at constants, or NO_CONSTANT if it is irrational,
 * undefined or too long. Ignores b for unary operators. */
uint32_t constant_fold(struct constants *t, unsigned op, uint32_t a, uint32_t b);
/* Returns doubles that enclose the value; both are equal if the value is a double. */
void constant_bounds(double *lo, double *hi, const struct constants *t, uint32_t id);
int constant_sign(const struct constants *t, uint32_t id);
bool constant_is_integer(const struct constants *t, uint32_t id);
bool constant_is_even(const struct constants *t, uint32_t id);
/* Stores the value if it is a small integer; returns false otherwise. */
bool constant_small(long *out, const struct constants *t, uint32_t id);
/* Returns the numerator or denominator of a fraction as a constant. */
uint32_t constant_part(struct constants *t, uint32_t id, bool denominator);
