/* Numbers and operators at a point: uses Arb's functions, whose principal branches are those of
 * DLMF (on a cut, the value of the formulas of DLMF 4.23 and 4.37 with arg = pi on the negative
 * real axis: asin 2 = pi/2 - 1.317 i), and the reciprocal of the argument for acsc, asec, acot and
 * their hyperbolic counterparts. */
#include "ops/expr/ball/ball_eval.h"

#include <flint/fmpq.h>

void ball_set_number(acb_struct *z, const char *text, slong precision)
{
    fmpq_t q;
    fmpq_init(q);
    fmpq_set_str(q, text, 10);
    if (fmpz_is_one(fmpq_denref(q)))
        arb_set_fmpz(acb_realref(z), fmpq_numref(q)); /* exact at any precision */
    else
        arb_set_fmpq(acb_realref(z), q, precision);
    arb_zero(acb_imagref(z));
    fmpq_clear(q);
}

/* z = 1/z; returns false if z is exactly 0. */
static bool invert(acb_struct *z, slong precision)
{
    if (acb_is_zero(z))
        return false;
    acb_inv(z, z, precision);
    return true;
}

static bool power(acb_struct *z, slong precision)
{
    if (!acb_is_zero(z)) {
        acb_pow(z, z, z + 1, precision);
        return true;
    }
    /* 0^b is 0 for real b > 0, and undefined for all other b */
    if (ball_is_real(z + 1) && arb_is_positive(acb_realref(z + 1)))
        return true;
    acb_indeterminate(z);
    return !acb_is_exact(z + 1);
}

typedef void function(acb_t out, const acb_t z, slong precision);

/* The functions of which csc, sec, csch and sech are the reciprocals. */
static function *const functions[X_DECLARED] = {
    [X_SQRT] = acb_sqrt, [X_LN] = acb_log,      [X_SIN] = acb_sin,     [X_COS] = acb_cos,
    [X_TAN] = acb_tan,   [X_CSC] = acb_sin,     [X_SEC] = acb_cos,     [X_COT] = acb_cot,
    [X_ASIN] = acb_asin, [X_ACOS] = acb_acos,   [X_ATAN] = acb_atan,   [X_SINH] = acb_sinh,
    [X_COSH] = acb_cosh, [X_TANH] = acb_tanh,   [X_CSCH] = acb_sinh,   [X_SECH] = acb_cosh,
    [X_COTH] = acb_coth, [X_ASINH] = acb_asinh, [X_ACOSH] = acb_acosh, [X_ATANH] = acb_atanh,
};

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
    case X_POW: return power(z, precision);
    case X_ABS:
        acb_abs(acb_realref(z), z, precision);
        arb_zero(acb_imagref(z));
        return true;
    case X_ACSC:
    case X_ASEC:
    case X_ACOT:
    case X_ACSCH:
    case X_ASECH:
    case X_ACOTH: return invert(z, precision) && ball_apply(z, lang_of_reciprocal(op), precision);
    default: break;
    }
    bool has_pole_at_zero = op == X_LN || op == X_COT || op == X_COTH;
    if (!functions[op] || (has_pole_at_zero && acb_is_zero(z)))
        return false;
    functions[op](z, z, precision);
    bool is_reciprocal = op == X_CSC || op == X_SEC || op == X_CSCH || op == X_SECH;
    return !is_reciprocal || invert(z, precision);
}
