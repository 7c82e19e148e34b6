/* See own_check.h. By the mean value theorem, applied to the real and the imaginary part, the
 * difference quotient over a short interval is in every box that contains all values of the
 * derivative there. If a ball that contains these values does not contain the quotient, the
 * derivative is refuted. Values are checked against their stated domains at special and random
 * points. */
#include "ops/expr/own/own_check.h"

#include "base/rng.h"
#include "ops/expr/ball/ball_eval.h"

#include <math.h>
#include <string.h>

enum { PRECISION = 512, WIDTH = 64 }; /* bits; the interval extends 2^-WIDTH to both sides */
enum { VALUE_POINTS = 60 };

struct point {
    acb_struct value[LANG_MAX_ARITY];
};

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct point *p = arg;
    return op == X_SYM ? &p->value[own_argument_number(name)] : NULL;
}

/* The value at the point with argument k shifted; returns false if undefined. */
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

static void write_point(struct buf *b, const struct point *p, unsigned arity)
{
    for (unsigned i = 0; i < arity; i++) {
        buf_printf(b, "%s%s = ", i ? ", " : "", own_argument(i));
        ball_write(b, &p->value[i], 8);
    }
    buf_puts(b, ": ");
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
            write_point(&b, p, arity);
            ball_write_against(&b, claimed, right);
            witness = buf_text(&b, a);
        }
    }
    acb_clear(left);
    acb_clear(right);
    ball_evaluator_free(&v);
    return witness;
}

/* Returns NULL, or a point with both values if the derivative with respect to argument k is
 * provably false there. */
static const char *derivative_refuted(struct arena *a, const struct own_operator *own,
                                      unsigned arity, unsigned k)
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

/* ---- values ---- */

static void set_argument(acb_struct *z, const struct ball_domain *domain, uint64_t number)
{
    static const double special[] = {0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 10, -10, 30};
    enum { SPECIAL = sizeof special / sizeof *special };
    bool plane = domain->name &&
                 (strcmp(domain->domain, "complex") == 0 || strcmp(domain->domain, "nonzero") == 0);
    bool whole = domain->name && strcmp(domain->domain, "integer") == 0;
    uint64_t drawn = rng_mix(number);
    double x = ldexp((double)(int64_t)drawn, (int)(drawn % 7) - 63); /* magnitude up to 64 */
    double y = plane && number % 2 ? ldexp((double)(int64_t)rng_mix(drawn), -61) : 0;
    if (number < SPECIAL)
        x = special[number];
    acb_set_d_d(z, whole ? round(x) : x, y);
    if (domain->low && number % 4 != 3) { /* distant bounds are rarely hit by chance */
        ball_set_number(z, domain->low, PRECISION);
        arb_add_si(acb_realref(z), acb_realref(z), number % 4 ? (slong)number : 0, PRECISION);
    }
    if (domain->low && domain->high) {
        acb_t low;
        acb_init(low);
        ball_set_number(low, domain->low, PRECISION);
        ball_set_number(z, domain->high, PRECISION);
        acb_sub(z, z, low, PRECISION);
        acb_mul_ui(z, z, drawn % 1025, PRECISION);
        acb_mul_2exp_si(z, z, -10);
        acb_add(z, z, low, PRECISION);
        acb_clear(low);
    }
}

/* The value at the point if it is certainly outside the domain, else NULL. */
static const acb_struct *value_outside(struct ball_evaluator *v, const struct expr *x,
                                       const struct ball_domain *domain)
{
    bool unsure = true;
    const acb_struct *value = NULL;
    for (slong precision = 128; unsure && precision <= PRECISION; precision *= 2) {
        value = ball_evaluate(v, x, precision);
        if (v->hopeless || ball_in_domain(&unsure, value, domain, precision))
            return NULL;
    }
    return unsure ? NULL : value;
}

/* Returns NULL, or a point with the value there if it is provably outside the domain values[k]. */
static const char *values_refuted(struct arena *a, const struct language *lang, uint16_t op,
                                  unsigned k)
{
    const struct own_operator *own = lang->ops[op].own;
    const unsigned arity = lang->ops[op].arity;
    struct expr arguments[LANG_MAX_ARITY];
    struct buf b = {0};
    struct point p;
    struct ball_evaluator v = {.lookup = look_up, .lookup_arg = &p};
    for (unsigned i = 0; i < LANG_MAX_ARITY; i++) {
        acb_init(&p.value[i]);
        arguments[i] = expr_leaf(a, lang, X_SYM, own_argument(i));
    }
    const struct expr x = expr_apply(a, lang, op, arguments, arity);
    for (unsigned n = 0; n < VALUE_POINTS && !b.len; n++) {
        for (unsigned i = 0; i < arity; i++)
            set_argument(&p.value[i], &own->domain[i], i ? rng_mix(n) % VALUE_POINTS : n);
        const acb_struct *value = value_outside(&v, &x, &own->values[k]);
        if (value) {
            write_point(&b, &p, arity);
            ball_write(&b, value, 8);
        }
    }
    for (unsigned i = 0; i < LANG_MAX_ARITY; i++)
        acb_clear(&p.value[i]);
    ball_evaluator_free(&v);
    return b.len ? buf_text(&b, a) : NULL;
}

enum err_code own_check(const struct language *lang, struct arena *a, uint16_t op,
                        const struct source_text *source, const size_t *derivative,
                        const size_t *values, struct err *e)
{
    const struct op_info *info = &lang->ops[op];
    const struct own_operator *own = info->own;
    for (unsigned k = 0; own && k < own->n_values; k++) {
        const char *witness = values_refuted(a, lang, op, k);
        if (witness)
            return err_fail_at(e, source, values[k], "%s has other values than these: at %s",
                               info->name, witness);
    }
    for (unsigned k = 0; own && k < info->arity; k++) {
        const char *witness =
            own->derivative[k].n ? derivative_refuted(a, own, info->arity, k) : NULL;
        if (witness)
            return err_fail_at(e, source, derivative[k],
                               "this is not the derivative of %s: at %s by differences", info->name,
                               witness);
    }
    return OK;
}
