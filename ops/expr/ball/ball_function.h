/* Functions of Arb that operators of one's own may name as their value: analytic, on Arb's
 * principal branches. */
#pragma once

#include <stddef.h>

enum { BALL_MAX_FUNCTIONS = 64 };

struct ball_function;

/* NULL: there is none of this name with so many arguments. */
const struct ball_function *ball_function_find(const char *name, unsigned arity);
const char *ball_function_name(const struct ball_function *f);
/* The names of those with so many arguments, at most BALL_MAX_FUNCTIONS. */
size_t ball_function_names(const char **out, unsigned arity);
