/* Inside the evaluator. A value is an acb (complex ball) or, under a derivative, the truncated
 * Taylor series of the subterm along a line through the point: an acb_poly of length `order`. A
 * derivative by x is read off the line on which x moves alone; one by y within it, off some lines
 * on which both move (Griewank, Utke, Walther 2000). A value that is not finite means: undefined
 * here, or not yet decided at this precision. Balls whose imaginary part is exactly zero are real;
 * all functions keep them so, which is what puts a real argument on a branch cut and not beside it.
 */
#pragma once

#include "ops/expr/ball/ball.h"

#include <acb.h>
#include <acb_poly.h>

/* BALL_MAX_ORDER: derivatives within each other, and one; BALL_MAX_MIXED: of them, those by a
 * variable that is not the only one around it. */
enum { BALL_MAX_ORDER = 9, BALL_MAX_MIXED = 4, BALL_MAX_PRECISION = 1024, BALL_MAX_SIZE = 1 << 30 };

/* Finds the value of a variable (op X_SYM, or X_VAR for ?name); NULL: it has none. */
typedef const acb_struct *ball_lookup(void *arg, uint16_t op, const char *name);

struct ball_evaluator {
    acb_struct *slots; /* one for each open argument */
    size_t n_slots;
    acb_poly_struct *series; /* the same under a derivative */
    size_t n_series;
    ball_lookup *lookup;
    void *lookup_arg;
    const struct language *lang;
    slong precision;
    /* Under an operator with a definition: what its arguments are, and for the definition another
     * evaluator, which is kept. */
    const acb_poly_struct *arguments;
    struct ball_evaluator *inner;
    unsigned depth;
    uint32_t *steps; /* of operators with a meaning of their own, within one evaluation */
    uint32_t own_steps;
    /* Set by an evaluation: more precision cannot help (1/0, an unknown meaning). */
    bool hopeless;
    slong smallest,
        largest; /* ... and its parts, if not zero, were about 2^smallest to 2^largest */
};

void ball_evaluator_free(struct ball_evaluator *v);
/* The value at the looked-up point; not finite when undefined. It stays in slot 0. */
const acb_struct *ball_evaluate(struct ball_evaluator *v, const struct expr *x, slong precision);

/* One operator; z holds the arguments and receives the result in z[0]. False: hopeless. */
bool ball_apply(acb_struct *z, uint16_t op, slong precision);
/* The same on series of length `order` > 1 along a line, on which all that moves is real if `real`.
 */
bool ball_apply_series(acb_poly_struct *f, uint16_t op, slong order, bool real, slong precision);

void ball_set_number(acb_struct *z, const char *text, slong precision);
/* Whether variables of this domain have the value; if not, *unsure: more precision may tell. */
bool ball_in_domain(bool *unsure, const acb_struct *z, const struct ball_domain *d,
                    slong precision);
/* A function of Arb; false where it is not computed. */
bool ball_function_apply(acb_struct *z, const struct ball_function *f, slong precision);

/* Finite, and good to 40 bits, relative or absolute. */
bool ball_is_narrow(const acb_struct *z);
/* The bits that tell apart values made of such parts. */
static inline slong ball_span(const struct ball_evaluator *v)
{
    return v->largest - v->smallest;
}
/* The largest that the difference of two balls can be, relative to the first, or absolutely where
 * that may be 0. */
void ball_error(mag_t out, const acb_struct *x, const acb_struct *y);
/* Whether two balls that overlap agree to more than `span` bits. */
bool ball_agrees(const acb_struct *x, const acb_struct *y, slong span);
/* "1.2345 - 0.5 I" */
void ball_write(struct buf *out, const acb_struct *z, slong digits);
/* "1.5 against 1.5 + 2*i": disjoint values, with eight digits, or as many as tell them apart. */
void ball_write_against(struct buf *out, const acb_struct *x, const acb_struct *y);

static inline bool ball_is_real(const acb_struct *z)
{
    return arb_is_zero(acb_imagref(z));
}
