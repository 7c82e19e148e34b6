/* The meaning of expressions: rigorous evaluation in complex ball arithmetic (FLINT/Arb) on
 * principal branches (DLMF; acot z = atan(1/z)).
 *
 * A value is undefined at a pole, at 0/0, where a derivative does not exist, and where more than
 * 1024 bits (8192 in a constant) would be needed to decide on which side of a branch cut an
 * argument is. On a cut, a real argument has the value of the formulas of DLMF 4.23 and 4.37 with
 * ln(-1) = pi i: asin 2 = pi/2 - 1.317 i. d(x, f) is the derivative along the variable, also of |f|
 * if x is real. Derivatives may be nested up to order eight, or up to order five if each is with
 * respect to another variable than the enclosing one; beyond that, and for declared operators
 * without a meaning, the value is undefined.
 *
 * Different threads may evaluate at the same time, each with its own references. FLINT keeps caches
 * per thread: call ball_thread_cleanup() before a thread ends. */
#pragma once

#include "ops/expr/expr.h"

/* A point: a value for each variable. */
struct ball_point {
    size_t n;
    const char *const *names; /* a pattern variable's name includes its '?' */
    const double *re, *im;    /* exact binary values */
};

/* The domain is "positive", "nonnegative", "real", "nonzero", "integer" or "complex"; the real ones
 * may have bounds. */
struct ball_domain {
    const char *name, *domain;
    const char *low, *high; /* bounds, or NULL */
    /* Whether the bounds belong to the domain; for variables this makes no difference, as equality
     * allows isolated exceptions. */
    bool low_closed, high_closed;
};

/* Approximate value; returns false if it is undefined. */
bool ball_value(double *re, double *im, const struct expr *x, const struct ball_point *point);
/* As ball_value; returns NaN if the value is undefined or not real. */
double ball_value_real(const struct expr *x, const struct ball_point *point);
void ball_thread_cleanup(void);

/* ---- Arb functions that operators may name, on principal branches ---- */
struct ball_function;
/* Returns NULL if no function has this name and arity. */
const struct ball_function *ball_function_find(const char *name, unsigned arity);
const char *ball_function_name(const struct ball_function *f);
bool ball_function_is_analytic(const struct ball_function *f);
/* Whether it is constant between isolated steps, as floor is. */
bool ball_function_has_steps(const struct ball_function *f);
/* The names of the functions with this arity, at most BALL_MAX_FUNCTIONS. */
enum { BALL_MAX_FUNCTIONS = 64 };
size_t ball_function_names(const char **out, unsigned arity);
