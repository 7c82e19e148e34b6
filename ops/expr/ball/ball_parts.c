#include "ops/expr/ball/ball_parts.h"

/* Whether n arguments are real; if balls leave it open, sets z to an indeterminate value. */
static bool are_real(bool *open, acb_struct *z, unsigned n)
{
    bool real = true;
    *open = true;
    for (unsigned i = 0; i < n; i++) {
        real = real && ball_is_real(z + i);
        *open = *open && arb_contains_zero(acb_imagref(z + i));
    }
    if (!real && *open)
        acb_indeterminate(z);
    return real;
}

/* ---- values ---- */

bool ball_conj(acb_struct *z, slong precision)
{
    acb_conj(z, z);
    return true;
}

bool ball_re(acb_struct *z, slong precision)
{
    arb_zero(acb_imagref(z));
    return true;
}

bool ball_im(acb_struct *z, slong precision)
{
    arb_swap(acb_realref(z), acb_imagref(z));
    arb_zero(acb_imagref(z));
    return true;
}

bool ball_arg(acb_struct *z, slong precision)
{
    if (acb_is_zero(z))
        return false;
    if (acb_contains_zero(z))
        acb_indeterminate(z);
    else
        acb_arg(acb_realref(z), z, precision);
    arb_zero(acb_imagref(z));
    return true;
}

bool ball_atan2(acb_struct *z, slong precision)
{
    bool open;
    if (!are_real(&open, z, 2))
        return open;
    if (acb_is_zero(z) && acb_is_zero(z + 1))
        return false;
    if (acb_contains_zero(z) && acb_contains_zero(z + 1))
        acb_indeterminate(z);
    else
        arb_atan2(acb_realref(z), acb_realref(z), acb_realref(z + 1), precision);
    return true;
}

static bool step(acb_struct *z, void apply(arb_t, const arb_t, slong), slong precision)
{
    bool open;
    if (!are_real(&open, z, 1))
        return open;
    apply(acb_realref(z), acb_realref(z), precision);
    return true;
}

bool ball_floor(acb_struct *z, slong precision)
{
    return step(z, arb_floor, precision);
}

bool ball_ceil(acb_struct *z, slong precision)
{
    return step(z, arb_ceil, precision);
}

static void sign(arb_t out, const arb_t x, slong precision)
{
    arb_sgn(out, x);
}

bool ball_sign(acb_struct *z, slong precision)
{
    return step(z, sign, precision);
}

/* ---- series ---- */

bool ball_conj_series(acb_poly_struct *f, slong order, slong precision)
{
    for (slong i = 0; i < f->length; i++)
        acb_conj(f->coeffs + i, f->coeffs + i);
    return true;
}

bool ball_re_series(acb_poly_struct *f, slong order, slong precision)
{
    for (slong i = 0; i < f->length; i++)
        ball_re(f->coeffs + i, precision);
    _acb_poly_normalise(f);
    return true;
}

bool ball_im_series(acb_poly_struct *f, slong order, slong precision)
{
    for (slong i = 0; i < f->length; i++)
        ball_im(f->coeffs + i, precision);
    _acb_poly_normalise(f);
    return true;
}

/* The imaginary part of the logarithm's series, with the argument of the value. */
bool ball_arg_series(acb_poly_struct *f, slong order, slong precision)
{
    acb_t c0;
    acb_init(c0);
    acb_poly_get_coeff_acb(c0, f, 0);
    bool ok = ball_arg(c0, precision);
    if (ok) {
        acb_poly_log_series(f, f, order, precision);
        ball_im_series(f, order, precision);
        acb_poly_set_coeff_acb(f, 0, c0);
    }
    acb_clear(c0);
    return ok;
}

bool ball_step_series(acb_poly_struct *f, ball_part *value, slong precision)
{
    acb_t c0;
    acb_init(c0);
    acb_poly_get_coeff_acb(c0, f, 0);
    /* Then the ball of an exact argument at a step contains both sides of it. */
    arb_add_error_2exp_si(acb_realref(c0), -precision);
    bool ok = value(c0, precision);
    if (ok && !acb_is_exact(c0))
        acb_indeterminate(c0);
    acb_poly_set_acb(f, c0);
    acb_clear(c0);
    return ok;
}
