/* Exact rationals as reduced decimal text: "-4", "3/2"; the denominator is positive and omitted
 * when it is 1. Results are in the arena. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Parses and reduces all n bytes: "-4", "6/4" or "0.25". Returns NULL on a syntax error, a zero
 * denominator or more than EXPR_MAX_DIGITS digits. */
char *number_read(struct arena *a, const char *text, size_t n);
bool number_is_integer(const char *number);
/* op is '+' '-' '*' '/', or '^' with an integer y. Returns NULL if the result is undefined (x/0,
 * 0^0, 0^-1) or has more than `max_digits` digits. */
char *number_combine(struct arena *a, char op, const char *x, const char *y, size_t max_digits);
/* The value of a term of numbers and + - * / ^; NULL for any other term, or if it has no value. */
struct expr;
char *number_of_term(struct arena *a, const struct expr *x, size_t max_digits);
/* Rounded to the nearest double; huge values become infinite. */
double number_double(const char *number);
int number_sign(const char *number);
int number_compare(const char *x, const char *y);
