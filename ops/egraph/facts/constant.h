/* Exact rational constants, interned: equal values have equal ids. The only user of GMP here. A
 * value that would need more than NUMBER_MAX_DIGITS digits is not folded, so nothing overflows. */
#ifndef OPS_EGRAPH_FACTS_CONSTANT_H
#define OPS_EGRAPH_FACTS_CONSTANT_H

#include "base/map.h"

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

#define NO_NUMBER UINT32_MAX
enum { NUMBER_MAX_DIGITS = 64 };

struct numbers {
    mpq_t *values;
    char **texts; /* "-4", "3/2" */
    size_t n, values_cap, texts_cap;
    struct name_map by_text;
};

void numbers_free(struct numbers *t);
/* NO_NUMBER if the text is not an integer or a fraction with a denominator other than 0. */
uint32_t numbers_parse(struct numbers *t, const char *text);
const char *numbers_text(const struct numbers *t, uint32_t id);
/* The value of op (an enum expr_op) at constants, or NO_NUMBER: not rational, undefined, or too
 * long. b is ignored for unary operators. */
uint32_t numbers_fold(struct numbers *t, unsigned op, uint32_t a, uint32_t b);
/* Doubles around the value: equal if it is one. */
void numbers_bounds(double *lo, double *hi, const struct numbers *t, uint32_t id);
int numbers_sign(const struct numbers *t, uint32_t id);
bool numbers_is_integer(const struct numbers *t, uint32_t id);
bool numbers_is_even(const struct numbers *t, uint32_t id); /* an even integer */
int numbers_compare(const struct numbers *t, uint32_t a, uint32_t b);
/* The value if it is an integer of small size; false otherwise. */
bool numbers_small(long *out, const struct numbers *t, uint32_t id);
/* Numerator and denominator of a fraction, as constants of their own. */
uint32_t numbers_numerator(struct numbers *t, uint32_t id);
uint32_t numbers_denominator(struct numbers *t, uint32_t id);

#endif
