/* What expressions mean: rigorous evaluation in complex ball arithmetic (FLINT/Arb) on principal
 * branches (DLMF; acot z = atan(1/z)), and the comparison of two expressions.
 *
 * A value is undefined at a pole, at 0/0, where a derivative does not exist, and where more than
 * 1024 bits would be needed to decide on which side of a branch cut an argument lies. On a cut
 * itself a real argument has the value of the formulas of DLMF 4.23 and 4.37 with ln(-1) = pi i:
 * asin 2 = pi/2 - 1.317 i. d(x, f) is the derivative along the variable, of |f| too if x is real.
 * Derivatives may stand within each other, by one variable or several; beyond the eighth order, or
 * the fifth with each by another variable than the one around it, they are not evaluated, nor are
 * declared operators: undefined.
 *
 * Different threads may evaluate at once, each with its own references. FLINT keeps caches for
 * each thread: call ball_thread_cleanup() before a thread ends. */
#pragma once

#include "base/rng.h"
#include "ops/expr/expr.h"

/* A point: a value for each variable. */
struct ball_point {
    size_t n;
    const char *const *names; /* that of a pattern variable with its '?' */
    const double *re, *im;    /* exact binary values */
};

enum ball_verdict {
    BALL_EQUAL,     /* agree (balls overlap, and are small) at every point where both are defined */
    BALL_DIFFERENT, /* disjoint values at all points around one: rigorous */
    BALL_UNDEFINED, /* no point found at which both are defined */
};

struct ball_compare {
    enum ball_verdict verdict;
    uint32_t points;   /* at which both were defined and compared */
    bool meet;         /* there is a point at which both have values */
    int digits;        /* of agreement, the least over the points */
    char witness[400]; /* BALL_DIFFERENT: "x = 0.5: 1.2345 against -1.2345" */
};

/* "positive", "nonnegative", "real", "nonzero", "integer" or "complex"; of real ones also ends. */
struct ball_domain {
    const char *name, *domain;
    const char *low, *high; /* numbers, or NULL */
    /* Whether they belong to it: of variables it makes no difference, as equality admits isolated
     * exceptions. */
    bool low_closed, high_closed;
};

struct ball_options {
    uint32_t points; /* wanted */
    uint64_t seed;
    double low, high;    /* variables are drawn from [low, high] ... */
    bool complex_points; /* ... or from a complex box around it */
    /* Variables with a domain of their own instead: real ones from [-high, high], ... Borrowed for
     * as long as the reference lives. */
    const struct ball_domain *domains;
    size_t n_domains;
    bool real_values; /* only points at which both values are real */
    /* The first points, of the variables whose domain has them; rational numbers. */
    const char *const *numbers;
    size_t n_numbers;
};

/* A prepared comparison of many terms with one: the values of x at its points are kept. its
 * nodes are borrowed. A term is refuted by balls around a point that stay apart: equality admits
 * isolated exceptions, but no open set of them. Zero in an option stands for its default: 8 points,
 * [0.25, 4] (when both are zero). */
struct ball_reference;
struct ball_reference *ball_reference_new(const struct expr *x, const struct ball_options *options);
void ball_reference_free(struct ball_reference *r);
void ball_reference_compare(struct ball_compare *out, struct ball_reference *r,
                            const struct expr *y);
/* How many points of x are defined, of those that were asked for. */
uint32_t ball_reference_points(const struct ball_reference *r);
/* Whether all operators have a meaning, and derivatives are not nested too deeply. */
bool ball_can_evaluate(const struct expr *x);
/* Both at once. */
void ball_compare(struct ball_compare *out, const struct expr *x, const struct expr *y,
                  const struct ball_options *options);
/* Approximate value; false when it is undefined. */
bool ball_value(double *re, double *im, const struct expr *x, const struct ball_point *point);
/* As ball_value; NaN when undefined or not real. */
double ball_value_real(const struct expr *x, const struct ball_point *point);
void ball_thread_cleanup(void);

/* ---- functions of Arb that operators of one's own may name: analytic, on principal branches ----
 */
struct ball_function;
/* NULL: there is none of this name with so many arguments. */
const struct ball_function *ball_function_find(const char *name, unsigned arity);
const char *ball_function_name(const struct ball_function *f);
/* The names of those with so many arguments, at most BALL_MAX_FUNCTIONS. */
enum { BALL_MAX_FUNCTIONS = 64 };
size_t ball_function_names(const char **out, unsigned arity);
