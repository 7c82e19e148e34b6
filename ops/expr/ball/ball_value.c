/* Values at one point: whether a ball is narrow enough to be accepted, and its text. */
#include "ops/expr/ball/ball.h"
#include "ops/expr/ball/ball_eval.h"

#include <math.h>
#include <string.h>

enum { NARROW_BITS = 40, SPARE_BITS = 16, MAX_DIGITS = 64 };

/* Whether the radii of both parts are at most 2^-bits. */
static bool is_small(const acb_struct *z, slong bits)
{
    return mag_cmp_2exp_si(arb_radref(acb_realref(z)), -bits) <= 0 &&
           mag_cmp_2exp_si(arb_radref(acb_imagref(z)), -bits) <= 0;
}

bool ball_is_narrow(const acb_struct *z)
{
    return acb_is_finite(z) &&
           (acb_rel_accuracy_bits(z) >= NARROW_BITS || is_small(z, NARROW_BITS));
}

void ball_error(mag_t out, const acb_struct *x, const acb_struct *y)
{
    acb_t d;
    mag_t size;
    acb_init(d);
    mag_init(size);
    acb_sub(d, x, y, 64);
    acb_get_mag(out, d);
    acb_get_mag_lower(size, x);
    if (!mag_is_zero(size))
        mag_div(out, out, size);
    mag_clear(size);
    acb_clear(d);
}

bool ball_agrees(const acb_struct *x, const acb_struct *y, slong span)
{
    mag_t error;
    mag_init(error);
    ball_error(error, x, y);
    bool agrees = mag_cmp_2exp_si(error, -span - SPARE_BITS) < 0;
    mag_clear(error);
    return agrees;
}

/* Writes "1.5 - 2 I", or only the selected parts. */
static void write_parts(struct buf *b, const acb_struct *z, slong digits, bool real, bool imaginary,
                        const char *unit)
{
    if (real) {
        char *re = arb_get_str(acb_realref(z), digits, ARB_STR_NO_RADIUS);
        buf_puts(b, re);
        flint_free(re);
    }
    if (imaginary) {
        char *im = arb_get_str(acb_imagref(z), digits, ARB_STR_NO_RADIUS);
        bool minus = *im == '-';
        buf_printf(b, "%s%s%s",
                   !real   ? (minus ? "-" : "")
                   : minus ? " - "
                           : " + ",
                   im + minus, unit);
        flint_free(im);
    }
}

void ball_write(struct buf *b, const acb_struct *z, slong digits)
{
    bool imaginary = !arb_is_zero(acb_imagref(z));
    write_parts(b, z, digits, !imaginary || !arb_is_zero(acb_realref(z)), imaginary, " I");
}

/* Omits a part that may be zero. */
static void write_nonzero(struct buf *b, const acb_struct *z, slong digits)
{
    bool imaginary = !arb_contains_zero(acb_imagref(z));
    write_parts(b, z, digits, !imaginary || !arb_contains_zero(acb_realref(z)), imaginary, "*i");
}

void ball_write_against(struct buf *b, const acb_struct *x, const acb_struct *y)
{
    struct buf left = {0}, right = {0};
    bool told = false;
    for (slong digits = 8; digits <= MAX_DIGITS && !told; digits *= 2) {
        buf_clear(&left);
        buf_clear(&right);
        write_nonzero(&left, x, digits);
        write_nonzero(&right, y, digits);
        told = strcmp(left.data, right.data) != 0;
    }
    buf_printf(b, "%s against %s", left.data, right.data);
    if (!told) {
        acb_t difference;
        acb_init(difference);
        acb_sub(difference, x, y, BALL_MAX_PRECISION);
        buf_puts(b, ", which differ by ");
        write_nonzero(b, difference, 3);
        acb_clear(difference);
    }
    buf_free(&left);
    buf_free(&right);
}

struct single {
    const struct ball_point *point;
    acb_t value;
};

static const acb_struct *look_up_single(void *arg, uint16_t op, const char *name)
{
    struct single *s = arg;
    for (size_t i = 0; i < s->point->n; i++) {
        const char *given = s->point->names[i];
        bool variable = *given == '?';
        if (variable == (op == X_VAR) && strcmp(given + variable, name) == 0) {
            acb_set_d_d(s->value, s->point->re[i], s->point->im ? s->point->im[i] : 0);
            return s->value;
        }
    }
    return NULL;
}

bool ball_value(double *re, double *im, const struct expr *x, const struct ball_point *point)
{
    struct single s = {.point = point};
    struct ball_evaluator v = {.lookup = look_up_single, .lookup_arg = &s};
    const acb_struct *z;
    acb_init(s.value);
    for (slong precision = 96;; precision *= 2) {
        z = ball_evaluate(&v, x, precision);
        if (v.hopeless || precision > BALL_MAX_PRECISION || acb_rel_accuracy_bits(z) >= 64)
            break;
    }
    bool defined = ball_is_narrow(z), real = arb_contains_zero(acb_imagref(z));
    *re = arf_get_d(arb_midref(acb_realref(z)), ARF_RND_NEAR);
    *im = real ? 0 : arf_get_d(arb_midref(acb_imagref(z)), ARF_RND_NEAR);
    acb_clear(s.value);
    ball_evaluator_free(&v);
    return defined;
}

double ball_value_real(const struct expr *x, const struct ball_point *point)
{
    double re, im;
    return ball_value(&re, &im, x, point) && im == 0 ? re : NAN;
}

void ball_thread_cleanup(void)
{
    flint_cleanup();
}
