/* What each operator means at a point: Arb's functions, whose principal branches are DLMF's (on a
 * cut, the value of the formulas of DLMF 4.23 and 4.37 with arg = pi on the negative real axis:
 * asin 2 = pi/2 - 1.317 i), reciprocals of the argument for acsc, asec, acot and their hyperbolic
 * kin, and powers as exp(b ln a) except where that would lose exactness. */
#include "ops/expr/ball/ball_eval.h"

/* 1/z; false if z is exactly 0. */
static bool invert(acb_struct *z, slong precision)
{
    if (acb_is_zero(z))
        return false;
    acb_inv(z, z, precision);
    return true;
}

/* z is exactly an integer or half of one: 2 z, which fits; else false. */
static bool is_half_integer(slong *twice, const acb_struct *z)
{
    if (!ball_is_real(z) || !arb_is_exact(acb_realref(z)) ||
        arf_cmpabs_2exp_si(arb_midref(acb_realref(z)), 40) > 0)
        return false;
    arf_t t;
    arf_init(t);
    arf_mul_2exp_si(t, arb_midref(acb_realref(z)), 1);
    bool whole = arf_is_int(t);
    if (whole)
        *twice = arf_get_si(t, ARF_RND_DOWN);
    arf_clear(t);
    return whole;
}

bool ball_power(acb_struct *z, slong precision)
{
    slong twice;
    if (acb_is_zero(&z[0])) {
        acb_zero(&z[0]); /* 0^b is 0 for real b > 0, and undefined for all others */
        if (ball_is_real(&z[1]) && arb_is_positive(acb_realref(&z[1])))
            return true;
        acb_indeterminate(&z[0]);
        return !acb_is_exact(&z[1]);
    }
    if (is_half_integer(&twice, &z[1])) {
        /* (-4)^(1/2) is exactly imaginary, (x - 1)^2 finite where the ball holds 0. */
        bool root = twice & 1;
        if (root) {
            acb_sqrt(&z[0], &z[0], precision);
        } else {
            twice /= 2;
        }
        acb_pow_si(&z[0], &z[0], twice, precision);
        return true;
    }
    if (ball_is_real(&z[0]) && ball_is_real(&z[1]) && arb_is_positive(acb_realref(&z[0]))) {
        arb_pow(acb_realref(&z[0]), acb_realref(&z[0]), acb_realref(&z[1]), precision);
        return true;
    }
    acb_log(&z[0], &z[0], precision);
    acb_mul(&z[0], &z[0], &z[1], precision);
    acb_exp(&z[0], &z[0], precision);
    return true;
}

bool ball_apply(acb_struct *z, uint16_t op, slong precision)
{
    switch ((enum expr_op)op) {
    case X_ADD: acb_add(z, z, z + 1, precision); return true;
    case X_SUB: acb_sub(z, z, z + 1, precision); return true;
    case X_MUL: acb_mul(z, z, z + 1, precision); return true;
    case X_DIV:
        if (acb_is_zero(z + 1))
            return false;
        acb_div(z, z, z + 1, precision);
        return true;
    case X_POW: return ball_power(z, precision);
    case X_SQRT: acb_sqrt(z, z, precision); return true;
    case X_ABS:
        acb_abs(acb_realref(z), z, precision);
        arb_zero(acb_imagref(z));
        return true;
    case X_LN:
        if (acb_is_zero(z))
            return false;
        acb_log(z, z, precision);
        return true;
    case X_SIN: acb_sin(z, z, precision); return true;
    case X_COS: acb_cos(z, z, precision); return true;
    case X_TAN: acb_tan(z, z, precision); return true;
    case X_CSC: acb_sin(z, z, precision); return invert(z, precision);
    case X_SEC: acb_cos(z, z, precision); return invert(z, precision);
    case X_COT:
        if (acb_is_zero(z))
            return false;
        acb_cot(z, z, precision);
        return true;
    case X_ASIN: acb_asin(z, z, precision); return true;
    case X_ACOS: acb_acos(z, z, precision); return true;
    case X_ATAN: acb_atan(z, z, precision); return true;
    case X_SINH: acb_sinh(z, z, precision); return true;
    case X_COSH: acb_cosh(z, z, precision); return true;
    case X_TANH: acb_tanh(z, z, precision); return true;
    case X_CSCH: acb_sinh(z, z, precision); return invert(z, precision);
    case X_SECH: acb_cosh(z, z, precision); return invert(z, precision);
    case X_COTH:
        if (acb_is_zero(z))
            return false;
        acb_coth(z, z, precision);
        return true;
    case X_ASINH: acb_asinh(z, z, precision); return true;
    case X_ACOSH: acb_acosh(z, z, precision); return true;
    case X_ATANH: acb_atanh(z, z, precision); return true;
    case X_ACSC:
    case X_ASEC:
    case X_ACOT:
    case X_ACSCH:
    case X_ASECH:
    case X_ACOTH: return invert(z, precision) && ball_apply(z, lang_of_reciprocal(op), precision);
    case X_NUM:
    case X_SYM:
    case X_VAR:
    case X_D:
    case X_DECLARED: break;
    }
    return false; /* a declared operator has no meaning */
}
