/* Comparison of expressions by values at designed points (design.h), in ball arithmetic. */
#pragma once

#include "ops/expr/ball/ball.h"

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

struct ball_options {
    uint32_t points; /* number of points to compare at; 0: 8 */
    /* Domains of single variables; the others are positive. Borrowed for the lifetime of the
     * reference. */
    const struct ball_domain *domains;
    size_t n_domains;
    bool real_values; /* use only points at which both values are real */
};

/* A reference prepares the comparison of many terms with one term x by keeping the values of x at
 * its points. Borrows the nodes of x. A term is refuted by balls that are disjoint in a
 * neighbourhood of a point: equality allows isolated exceptions, but no open set of them. */
struct ball_reference;
struct ball_reference *ball_reference_new(const struct expr *x, const struct ball_options *options);
void ball_reference_free(struct ball_reference *r);
void ball_reference_compare(struct ball_compare *out, struct ball_reference *r,
                            const struct expr *y);
/* Compares at the points of the cells of both sides as well, and constants to 4,096 bits. `out` is
 * the result of ball_reference_compare, and is extended. */
void ball_reference_compare_cells(struct ball_compare *out, struct ball_reference *r,
                                  const struct expr *y);
/* The number of requested points at which x is defined. */
uint32_t ball_reference_points(const struct ball_reference *r);
/* Compares x and y without keeping a reference. */
void ball_compare(struct ball_compare *out, const struct expr *x, const struct expr *y,
                  const struct ball_options *options);
