/* Internals of the evaluator. A value is an acb (complex ball) or, under a derivative, the
 * truncated Taylor series of the subterm along a line through the point: an acb_poly of length
 * `order`. A derivative with respect to x is read off the line on which only x varies; a derivative
 * with respect to y inside it, off several lines on which both vary (Griewank, Utke, Walther 2000).
 * A value that is not finite is undefined here, or not yet decided at this precision. Balls whose
 * imaginary part is exactly zero are real; every function keeps them so, which places a real
 * argument on a branch cut and not beside it. */
#pragma once

#include "ops/expr/ball/ball.h"

#include <acb.h>
#include <acb_poly.h>

/* BALL_MAX_ORDER: maximal nesting of derivatives, plus one; BALL_MAX_MIXED: how many of these may
 * have an enclosing derivative with respect to another variable. */
enum { BALL_MAX_ORDER = 9, BALL_MAX_MIXED = 4, BALL_MAX_PRECISION = 1024, BALL_MAX_SIZE = 1 << 30 };

/* Returns the value of a variable (op X_SYM, or X_VAR for ?name), or NULL if it has none. */
typedef const acb_struct *ball_lookup(void *arg, uint16_t op, const char *name);
/* Whether the domain of a variable that was looked up is complex, even if its value is real. */
typedef bool ball_is_complex(void *arg, uint16_t op, const char *name);

struct ball_evaluator {
    acb_struct *slots; /* one per pending argument */
    size_t n_slots;
    acb_poly_struct *series; /* slots of series, under a derivative */
    size_t n_series;
    ball_lookup *lookup;
    ball_is_complex *is_complex; /* or NULL: a variable with a real value is real */
    void *lookup_arg;            /* of both */
    const struct language *lang;
    slong precision;
    /* Inside the definition of an operator: the series of its arguments. `inner` evaluates
     * definitions and is reused. */
    const acb_poly_struct *arguments;
    struct ball_evaluator *inner;
    unsigned depth;
    uint32_t *steps; /* applications of user-defined operators in one evaluation */
    uint32_t own_steps;
    /* Set by an evaluation if more precision cannot help (1/0, an operator without a meaning). */
    bool hopeless;
    slong smallest, largest; /* nonzero parts were about 2^smallest to 2^largest */
};

void ball_evaluator_free(struct ball_evaluator *v);
/* Evaluates x with the looked-up values; the result is not finite if undefined. It is stored in
 * slot 0. */
const acb_struct *ball_evaluate(struct ball_evaluator *v, const struct expr *x, slong precision);

/* Applies an operator: z holds the arguments and receives the result in z[0]. Returns false if more
 * precision cannot help. */
bool ball_apply(acb_struct *z, uint16_t op, slong precision);
/* As ball_apply, on series of length `order` > 1 along a line; `real`: all variables that vary on
 * it are real. */
bool ball_apply_series(acb_poly_struct *f, uint16_t op, slong order, bool real, slong precision);

void ball_set_number(acb_struct *z, const char *text, slong precision);
/* Whether the value is in the domain; on false, *unsure reports that more precision may decide it.
 */
bool ball_in_domain(bool *unsure, const acb_struct *z, const struct ball_domain *d,
                    slong precision);
/* Applies an Arb function; returns false if it is not computed for these arguments. */
bool ball_function_apply(acb_struct *z, const struct ball_function *f, slong precision);
/* Returns false if the series follows from the function's derivatives. Otherwise replaces the
 * series of the argument by that of the function; *ok: whether there is one. `real` as above. */
bool ball_function_series(bool *ok, acb_poly_struct *f, const struct ball_function *function,
                          slong order, bool real, slong precision);

/* Finite and accurate to 40 bits, relative or absolute. */
bool ball_is_narrow(const acb_struct *z);
/* The bits needed to distinguish values that are sums of such parts. */
static inline slong ball_span(const struct ball_evaluator *v)
{
    return v->largest - v->smallest;
}
/* Upper bound of the difference of two balls, relative to the first, or absolute where that may be
 * 0. */
void ball_error(mag_t out, const acb_struct *x, const acb_struct *y);
/* Whether two overlapping balls agree to more than `span` bits. */
bool ball_agrees(const acb_struct *x, const acb_struct *y, slong span);
/* "1.2345 - 0.5 I" */
void ball_write(struct buf *out, const acb_struct *z, slong digits);
/* "1.5 against 1.5 + 2*i": two disjoint values, with eight digits, or as many as distinguish them.
 */
void ball_write_against(struct buf *out, const acb_struct *x, const acb_struct *y);

static inline bool ball_is_real(const acb_struct *z)
{
    return arb_is_zero(acb_imagref(z));
}
