/* Exact rational constants, interned: equal values have equal ids. The only user of GMP here. A
 * value that would need more than CONSTANT_MAX_DIGITS digits is not folded, so nothing overflows.
 */
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
/* NO_CONSTANT if the text is not an integer or a fraction with a denominator other than 0. */
uint32_t constant_parse(struct constants *t, const char *text);
const char *constant_text(const struct constants *t, uint32_t id);
/* The value of op (an enum expr_op) at constants, or NO_CONSTANT: not rational, undefined, or too
 * long. b is ignored for unary operators. */
uint32_t constant_fold(struct constants *t, unsigned op, uint32_t a, uint32_t b);
/* Doubles around the value: equal if it is one. */
void constant_bounds(double *lo, double *hi, const struct constants *t, uint32_t id);
int constant_sign(const struct constants *t, uint32_t id);
bool constant_is_integer(const struct constants *t, uint32_t id);
bool constant_is_even(const struct constants *t, uint32_t id); /* an even integer */
/* The value if it is an integer of small size; false otherwise. */
bool constant_small(long *out, const struct constants *t, uint32_t id);
/* Numerator or denominator of a fraction, as a constant of its own. */
uint32_t constant_part(struct constants *t, uint32_t id, bool denominator);
