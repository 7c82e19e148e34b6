/* Exact rationals as reduced decimal text: "-4", "3/2"; the denominator positive and absent when
 * it is 1. Results live in the arena. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Reads "-4", "6/4" or "0.25" (all of the n bytes) and reduces it; NULL if it is none of these, has
 * a zero denominator or more than EXPR_MAX_DIGITS digits. */
char *number_read(struct arena *a, const char *text, size_t n);
bool number_is_integer(const char *number);
/* x + y, x - y, x * y, x / y for op '+' '-' '*' '/', x ^ y for '^' (y an integer); NULL where
 * undefined (x/0, 0^0, 0^-1) or when the result has more than `max_digits` digits. */
char *number_combine(struct arena *a, char op, const char *x, const char *y, size_t max_digits);
/* The value of a term of numbers and + - * / ^; NULL: it is another term, or has no value. */
struct expr;
char *number_of_term(struct arena *a, const struct expr *x, size_t max_digits);
/* As double, rounded to nearest; huge values become infinite. */
double number_double(const char *number);
int number_sign(const char *number);
int number_compare(const char *x, const char *y);
