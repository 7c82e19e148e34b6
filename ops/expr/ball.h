/* What expressions mean: rigorous evaluation in complex ball arithmetic (FLINT/Arb) on principal
 * branches (DLMF; acot z = atan(1/z)), and the comparison of two expressions. */
#ifndef OPS_EXPR_BALL_H
#define OPS_EXPR_BALL_H

#include "base/arena.h"
#include "base/rng.h"
#include "ops/expr/expr.h"

#include <stdbool.h>

/* A point: a value for each variable. */
struct ball_point {
    size_t n;
    const char *const *names;
    const double *re, *im; /* exact binary values */
};

enum ball_verdict {
    BALL_EQUAL,     /* agree (balls overlap, and are small) at every point where both are defined */
    BALL_DIFFERENT, /* disjoint values at a point, found and rigorous */
    BALL_UNDEFINED, /* no point found at which both are defined */
};

struct ball_compare {
    enum ball_verdict verdict;
    uint32_t points;   /* at which both were defined and compared */
    int digits;        /* of agreement, the least over the points */
    char witness[400]; /* BALL_DIFFERENT: "x = 0.5: 1.2345 against -1.2345" */
};

struct ball_options {
    uint32_t points; /* wanted */
    uint64_t seed;
    double low, high;    /* variables are drawn from [low, high] ... */
    bool complex_points; /* ... or from a complex box around it */
    long precision;      /* bits to begin with; doubled while balls are too wide, to 1024 */
};

/* A prepared comparison of many terms with one: the values of x at its points are kept. */
struct ball_reference;
struct ball_reference *ball_reference_new(const struct expr *x, const struct ball_options *options);
void ball_reference_free(struct ball_reference *r);
void ball_reference_compare(struct ball_compare *out, struct ball_reference *r,
                            const struct expr *y);
/* Both at once. */
void ball_compare(struct ball_compare *out, const struct expr *x, const struct expr *y,
                  const struct ball_options *options);
/* The value as text ("1.2345 + 0.5 I", "undefined"), `digits` decimal digits. */
char *ball_value_text(struct arena *a, const struct expr *x, const struct ball_point *point,
                      int digits);
/* Approximate real value; NaN when undefined or not real. */
double ball_value_real(const struct expr *x, const struct ball_point *point);

#endif
