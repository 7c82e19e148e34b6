/* See own_check.h. By the mean value theorem, for the real and the imaginary part, the quotient of
 * differences over a short interval lies in every box that holds all values of the derivative
 * there. A ball for these that the quotient is not in refutes the derivative. */
#include "ops/expr/own/own_check.h"

#include "ops/expr/ball/ball_eval.h"

enum { PRECISION = 512, WIDTH = 64 }; /* bits; the interval is 2^-WIDTH to both sides */

struct point {
    acb_struct value[LANG_MAX_ARITY];
};

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct point *p = arg;
    return op == X_SYM ? &p->value[own_argument_number(name)] : NULL;
}

/* The value at the point, argument k moved; false if there is none. */
static bool value_at(acb_t out, const struct own_operator *own, const struct point *p, unsigned k,
                     int side)
{
    acb_struct z[LANG_MAX_ARITY];
    for (unsigned i = 0; i < LANG_MAX_ARITY; i++) {
        acb_init(&z[i]);
        acb_set(&z[i], &p->value[i]);
    }
    arb_t step;
    arb_init(step);
    arb_set_si(step, side);
    arb_mul_2exp_si(step, step, -WIDTH);
    arb_add(acb_realref(&z[k]), acb_realref(&z[k]), step, PRECISION);
    bool found = ball_function_apply(z, own->function, PRECISION) && acb_is_finite(z);
    acb_set(out, z);
    arb_clear(step);
    for (unsigned i = 0; i < LANG_MAX_ARITY; i++)
        acb_clear(&z[i]);
    return found;
}

static const char *refute_at(struct arena *a, const struct own_operator *own, struct point *p,
                             unsigned arity, unsigned k)
{
    const char *witness = NULL;
    struct ball_evaluator v = {.lookup = look_up, .lookup_arg = p};
    acb_t left, right;
    acb_init(left);
    acb_init(right);
    if (value_at(left, own, p, k, -1) && value_at(right, own, p, k, 1)) {
        acb_sub(right, right, left, PRECISION);
        acb_mul_2exp_si(right, right, WIDTH - 1);
        acb_set(left, &p->value[k]);
        arb_add_error_2exp_si(acb_realref(&p->value[k]), -WIDTH);
        const acb_struct *claimed = ball_evaluate(&v, &own->derivative[k], PRECISION);
        if (acb_is_finite(claimed) && !acb_overlaps(claimed, right)) {
            struct buf b = {0};
            acb_set(&p->value[k], left);
            for (unsigned i = 0; i < arity; i++) {
                buf_printf(&b, "%s%s = ", i ? ", " : "", own_argument(i));
                ball_write(&b, &p->value[i], 8);
            }
            buf_puts(&b, ": ");
            ball_write_against(&b, claimed, right);
            witness = buf_text(&b, a);
        }
    }
    acb_clear(left);
    acb_clear(right);
    ball_evaluator_free(&v);
    return witness;
}

const char *own_derivative_refuted(struct arena *a, const struct own_operator *own, unsigned arity,
                                   unsigned k)
{
    static const double at[][LANG_MAX_ARITY] = {{1.25, 0.5}, {2, 3.5}, {0.375, 1.75}, {3, 0.25}};
    const char *witness = NULL;
    struct point p;
    for (unsigned i = 0; i < LANG_MAX_ARITY; i++)
        acb_init(&p.value[i]);
    for (size_t n = 0; n < sizeof at / sizeof *at && !witness; n++) {
        for (unsigned i = 0; i < LANG_MAX_ARITY; i++)
            acb_set_d(&p.value[i], at[n][i]);
        witness = refute_at(a, own, &p, arity, k);
    }
    for (unsigned i = 0; i < LANG_MAX_ARITY; i++)
        acb_clear(&p.value[i]);
    return witness;
}
