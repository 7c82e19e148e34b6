/* The meaning of expressions: rigorous evaluation in complex ball arithmetic (FLINT/Arb) on
 * principal branches (DLMF; acot z = atan(1/z)), and the comparison of two expressions.
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

#include "base/rng.h"
#include "ops/expr/expr.h"

/* A point: a value for each variable. */
struct ball_point {
    size_t n;
    const char *const *names; /* a pattern variable's name includes its '?' */
    const double *re, *im;    /* exact binary values */
};

enum ball_verdict {
    BALL_EQUAL,     /* balls overlap and are narrow at every point where both are defined */
    BALL_DIFFERENT, /* values are disjoint in a neighbourhood of a point: rigorous */
    BALL_UNDEFINED, /* no point found at which both are defined */
};

struct ball_compare {
    enum ball_verdict verdict;
    uint32_t points;   /* number of points at which both were defined and compared */
    bool meet;         /* both have values at some point */
    int digits;        /* decimal digits of agreement, the minimum over the points */
    char witness[400]; /* BALL_DIFFERENT: "x = 0.5: 1.2345 against -1.2345" */
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

struct ball_options {
    uint32_t points; /* number of points to compare at */
    uint64_t seed;
    double low, high;    /* variables are drawn from [low, high] ... */
    bool complex_points; /* ... or from a complex box around it */
    /* Domains of single variables, which override the interval. Borrowed for the lifetime of the
     * reference. */
    const struct ball_domain *domains;
    size_t n_domains;
    bool real_values; /* use only points at which both values are real */
    /* Rational numbers to use first, for variables whose domain contains them. */
    const char *const *numbers;
    size_t n_numbers;
};

/* A reference prepares the comparison of many terms with one term x by keeping the values of x at
 * its points. Borrows the nodes of x. A term is refuted by balls that are disjoint in a
 * neighbourhood of a point: equality allows isolated exceptions, but no open set of them. Zero in
 * an option means its default: 8 points, [0.25, 4] (if both bounds are zero). */
struct ball_reference;
struct ball_reference *ball_reference_new(const struct expr *x, const struct ball_options *options);
void ball_reference_free(struct ball_reference *r);
void ball_reference_compare(struct ball_compare *out, struct ball_reference *r,
                            const struct expr *y);
/* The number of requested points at which x is defined. */
uint32_t ball_reference_points(const struct ball_reference *r);
/* Compares x and y without keeping a reference. */
void ball_compare(struct ball_compare *out, const struct expr *x, const struct expr *y,
                  const struct ball_options *options);
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
