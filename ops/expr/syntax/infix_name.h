/* How infix reads the names of symbols. What nothing declares is never a variable in silence: xy is
 * the product of two letters, i is the imaginary unit, and a word of mathematics that is no
 * operator here or contains one's name is refused. */
#pragma once

#include "ops/expr/syntax/infix_text.h"

/* Parses the identifier of n bytes, which is not an operator, or its first letter if it is the
 * product of its letters; the next call continues with the second. */
enum err_code infix_symbol(uint32_t *out, struct infix *p, const char *name, size_t n);
/* "speed" */
enum err_code infix_quoted(uint32_t *out, struct infix *p);
/* The variable of the d/dx that begins here, and its n bytes at *x; NULL if none does. A quotient
 * d/d or d/d_1 is of variables. */
const char *infix_derivative(const struct infix *p, const char **x, size_t *n);
/* A Greek letter that was typed as such; its name, with an index, is not an operator. */
enum err_code infix_greek(uint32_t *out, struct infix *p, const char *name, const char *at);
/* Refuses f^2(x) and f^(-1)(x): `at` is the bracket after the power. */
enum err_code infix_check_power(struct infix *p, const char *at);
/* Notes a power that may be a transpose, an inverse function or a binomial coefficient; `at` is its
 * sign. A base in parentheses is a base. */
void infix_check_marks(struct infix *p, uint32_t base, uint32_t exponent, const char *at);
/* Notes D_x f, with the last token as the first factor. */
void infix_check_applied(struct infix *p);
/* Notes (f + g)(x), whose second bracket opens at `at`. */
void infix_check_functions(struct infix *p, const char *at);
/* Reports dx, which belongs to a derivative or an integral. */
enum err_code infix_fail_differential(struct infix *p, const char *name, size_t n);
