/* Truncated Taylor arithmetic: every operator on series f(x0 + t) mod t^order. Functions without an
 * Arb series are integrated from their derivative: g = asin f has g' = f' / sqrt(1 - f^2), and g(0)
 * is the value at the point, so that series and values are on the same branch, on cuts too. */
#include "ops/expr/ball/ball_eval.h"

/* f -> g(f) for an inverse function (or ln), by its derivative. */
static void by_derivative(acb_poly_struct *f, uint16_t op, slong order, slong precision)
{
    acb_t c0;
    acb_poly_t q, one, t;
    acb_init(c0);
    acb_poly_init(q);
    acb_poly_init(one);
    acb_poly_init(t);
    acb_poly_get_coeff_acb(c0, f, 0);
    ball_apply(c0, op, precision);
    acb_poly_one(one);
    if (op == X_LN) {
        acb_poly_set(q, f);
    } else if (op == X_ACOSH) { /* sqrt(f - 1) sqrt(f + 1): a single root would have other cuts */
        acb_poly_sub(q, f, one, precision);
        acb_poly_sqrt_series(q, q, order, precision);
        acb_poly_add(t, f, one, precision);
        acb_poly_sqrt_series(t, t, order, precision);
        acb_poly_mullow(q, q, t, order, precision);
    } else {
        acb_poly_mullow(t, f, f, order, precision);
        if (op == X_ATAN || op == X_ASINH)
            acb_poly_add(q, one, t, precision);
        else
            acb_poly_sub(q, one, t, precision);
        if (op == X_ASIN || op == X_ACOS || op == X_ASINH)
            acb_poly_sqrt_series(q, q, order, precision);
        if (op == X_ACOS)
            acb_poly_neg(q, q);
    }
    acb_poly_derivative(f, f, precision);
    acb_poly_div_series(f, f, q, order - 1, precision);
    acb_poly_integral(f, f, precision);
    acb_poly_set_coeff_acb(f, 0, c0);
    acb_clear(c0);
    acb_poly_clear(q);
    acb_poly_clear(one);
    acb_poly_clear(t);
}

static bool constant_term_is_zero(const acb_poly_struct *f)
{
    return acb_poly_length(f) == 0 || acb_is_zero(acb_poly_get_coeff_ptr(f, 0));
}

static bool invert(acb_poly_struct *f, slong order, slong precision)
{
    if (constant_term_is_zero(f))
        return false;
    acb_poly_inv_series(f, f, order, precision);
    return true;
}

static bool circular(acb_poly_struct *f, uint16_t op, slong order, slong precision)
{
    struct lang_quotient q = lang_circular(op);
    acb_poly_t s, c, one;
    acb_poly_init(s);
    acb_poly_init(c);
    acb_poly_init(one);
    acb_poly_one(one);
    if (op >= X_SINH)
        acb_poly_sinh_cosh_series(s, c, f, order, precision);
    else
        acb_poly_sin_cos_series(s, c, f, order, precision);
    acb_poly_struct *parts[] = {[LANG_ONE] = one, [LANG_SINE] = s, [LANG_COSINE] = c};
    bool ok = !constant_term_is_zero(parts[q.bottom]);
    if (q.bottom == LANG_ONE)
        acb_poly_swap(f, parts[q.top]);
    else if (ok)
        acb_poly_div_series(f, parts[q.top], parts[q.bottom], order, precision);
    acb_poly_clear(s);
    acb_poly_clear(c);
    acb_poly_clear(one);
    return ok;
}

/* |f| = sqrt(f conj(f)) along a real variable; there is no derivative with respect to a complex
 * one, nor at 0. */
static bool absolute(acb_poly_struct *f, slong order, bool real, slong precision)
{
    if (!real || constant_term_is_zero(f))
        return false;
    acb_poly_t conjugate;
    acb_poly_init(conjugate);
    acb_poly_set(conjugate, f);
    for (slong i = 0; i < acb_poly_length(conjugate); i++)
        acb_conj(acb_poly_get_coeff_ptr(conjugate, i), acb_poly_get_coeff_ptr(conjugate, i));
    acb_poly_mullow(f, f, conjugate, order, precision);
    for (slong i = 0; i < acb_poly_length(f); i++)
        arb_zero(acb_imagref(acb_poly_get_coeff_ptr(f, i)));
    acb_poly_sqrt_series(f, f, order, precision);
    acb_poly_clear(conjugate);
    return true;
}

static bool power(acb_poly_struct *f, slong order, slong precision)
{
    acb_struct z[2];
    acb_init(z);
    acb_init(z + 1);
    acb_poly_get_coeff_acb(z, f, 0);
    acb_poly_get_coeff_acb(z + 1, f + 1, 0);
    bool ok = true, constant = acb_poly_length(f + 1) <= 1;
    if (constant && acb_is_int(z + 1) &&
        arf_cmpabs_2exp_si(arb_midref(acb_realref(z + 1)), 40) < 0) {
        slong n = arf_get_si(arb_midref(acb_realref(z + 1)), ARF_RND_DOWN);
        if (n < 0)
            ok = invert(f, order, precision);
        if (ok)
            acb_poly_pow_ui_trunc_binexp(f, f, (ulong)(n < 0 ? -n : n), order, precision);
    } else if (constant_term_is_zero(f)) {
        acb_poly_one(f);
        acb_indeterminate(acb_poly_get_coeff_ptr(f, 0)); /* x^(3/2) at 0: no series */
        ok = false;
    } else {
        ok = ball_apply(z, X_POW, precision); /* the value, as precise as possible */
        acb_poly_log_series(f, f, order, precision);
        acb_poly_mullow(f, f, f + 1, order, precision);
        acb_poly_exp_series(f, f, order, precision);
        acb_poly_set_coeff_acb(f, 0, z);
    }
    acb_clear(z);
    acb_clear(z + 1);
    return ok;
}

bool ball_apply_series(acb_poly_struct *f, uint16_t op, slong order, bool real, slong precision)
{
    switch ((enum expr_op)op) {
    case X_ADD: acb_poly_add(f, f, f + 1, precision); return true;
    case X_SUB: acb_poly_sub(f, f, f + 1, precision); return true;
    case X_MUL: acb_poly_mullow(f, f, f + 1, order, precision); return true;
    case X_DIV:
        if (constant_term_is_zero(f + 1))
            return false;
        acb_poly_div_series(f, f, f + 1, order, precision);
        return true;
    case X_POW: return power(f, order, precision);
    case X_SQRT:
        if (constant_term_is_zero(f))
            return acb_poly_length(f) == 0;
        acb_poly_sqrt_series(f, f, order, precision);
        return true;
    case X_ABS: return absolute(f, order, real, precision);
    case X_ACSC:
    case X_ASEC:
    case X_ACOT:
    case X_ACSCH:
    case X_ASECH:
    case X_ACOTH:
        if (!invert(f, order, precision))
            return false;
        by_derivative(f, lang_of_reciprocal(op), order, precision);
        return true;
    case X_LN:
        if (constant_term_is_zero(f))
            return false;
        /* fall through */
    case X_ASIN:
    case X_ACOS:
    case X_ATAN:
    case X_ASINH:
    case X_ACOSH:
    case X_ATANH: by_derivative(f, op, order, precision); return true;
    default: return circular(f, op, order, precision);
    }
}
