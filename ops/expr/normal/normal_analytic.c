/* A root, a logarithm or an inverse function is analytic where a certain function of its argument
 * is neither negative nor zero: the argument itself, 1 - z^2 for asin, acos and atanh, 1 + z^2 for
 * asinh and atan, z - 1 for acosh. Let such a t be a rational function of u, Re u > 0, with real
 * coefficients. t = -s, s >= 0, has no such solution if
 *   t = p/q, where no coefficient of p and q is negative and no degree above 2: the zeros of p + s
 * q have real parts at most 0; or t = c v^2, c > 0, where v or 1/v is a sum of 1/u, 1 and u with
 * nonnegative coefficients: Re v > 0. Everything else (rational operations, exponentials, sines,
 * integer powers) is meromorphic, but for a closed countable set, whose complement is connected. */
#include "ops/expr/normal/normal.h"

#include "ops/expr/normal/normal_root.h"
#include "ops/expr/normal/normal_translate.h"

#include <stdlib.h>
#include <string.h>

/* Whether all coefficients have one sign, for a polynomial in positive numbers and one variable;
 * also returns its lowest and highest exponent. */
static bool is_one_sided(int *sign, ulong *low, ulong *high, const struct field *f,
                         const fmpz_mpoly_t p)
{
    ulong e[FIELD_MAX_GENERATORS];
    bool ok = true;
    *sign = 0;
    *low = ULONG_MAX;
    *high = 0;
    for (slong i = 0; i < fmpz_mpoly_length(p, f->ring) && ok; i++) {
        ulong degree = 0;
        int own = fmpz_sgn(p->coeffs + i);
        fmpz_mpoly_get_term_exp_ui(e, p, i, f->ring);
        ok = !*sign || *sign == own;
        *sign = own;
        for (size_t g = 0; g < f->n && ok; g++) {
            bool number = f->g[g].kind == GENERATOR_CONSTANT && f->g[g].positive;
            ok = !e[g] || number || f->g[g].kind == GENERATOR_VARIABLE;
            degree += number ? 0 : e[g];
        }
        *low = degree < *low ? degree : *low;
        *high = degree > *high ? degree : *high;
    }
    return ok && *sign;
}

/* Whether Re v > 0 or Re v < 0 everywhere: v is a sum of powers adjacent to some power, over that
 * power, or the reciprocal. */
static bool leaves_imaginary_axis(const struct field *f, const element *v)
{
    int sign[2];
    ulong low[2], high[2];
    if (!is_one_sided(&sign[0], &low[0], &high[0], f, fmpz_mpoly_q_numref(v)) ||
        !is_one_sided(&sign[1], &low[1], &high[1], f, fmpz_mpoly_q_denref(v)))
        return false;
    for (int k = 0; k < 2; k++)
        if (low[k] == high[k] && low[!k] + 1 >= low[k] && high[!k] <= low[k] + 1)
            return true;
    return false;
}

static bool leaves_negative_axis(struct field *f, const element *t)
{
    int sign[2];
    ulong low, high[2];
    const element *c, *v;
    if (!(t = field_reduce(f, t)) || field_is_zero(f, t))
        return false;
    if (is_one_sided(&sign[0], &low, &high[0], f, fmpz_mpoly_q_numref(t)) &&
        is_one_sided(&sign[1], &low, &high[1], f, fmpz_mpoly_q_denref(t)) && sign[0] == sign[1] &&
        high[0] <= 2 && high[1] <= 2)
        return true;
    return square_of(&c, &v, f, t) && leaves_imaginary_axis(f, v);
}

/* Returns the function of the argument z that must avoid the negative axis, or NULL if unknown. */
static const element *guarded(struct field *f, uint16_t op, const element *z)
{
    const element *one = field_rational(f, 1, 1), *square = field_mul(f, z, z);
    switch ((enum expr_op)op) {
    case X_SQRT:
    case X_LN:
    case X_POW: return z;
    case X_ASIN:
    case X_ACOS:
    case X_ATANH: return field_sub(f, one, square);
    case X_ASINH:
    case X_ATAN: return field_add(f, one, square);
    case X_ACOSH: return field_sub(f, z, one);
    case X_ACSC:
    case X_ASEC:
    case X_ACOT:
    case X_ACSCH:
    case X_ASECH:
    case X_ACOTH: return guarded(f, lang_of_reciprocal(op), field_div(f, one, z));
    default: return NULL;
    }
}

static bool is_entire(const struct expr_node *x)
{
    const struct expr_node *exponent = x->op == X_POW ? expr_node_second(x) : NULL;
    if (exponent)
        return expr_node_is(x + 1, X_SYM, "e") ||
               (exponent->op == X_NUM && !strchr(exponent->leaf, '/'));
    return x->op <= X_DIV || lang_is_circular(x->op);
}

static bool is_analytic(struct field *f, const struct expr_node *x)
{
    if (!is_entire(x)) {
        const element *z = x->op == X_ABS || x->op == X_D ? NULL : normal_translate(f, x + 1);
        const element *t = z ? guarded(f, x->op, z) : NULL;
        if (!t || (!field_is_constant(f, t) && !leaves_negative_axis(f, t)))
            return false;
    }
    for (uint32_t i = 0, at = 1; i < x->arity; at += x[at].size, i++)
        if (!is_analytic(f, x + at))
            return false;
    return true;
}

bool normal_is_analytic(const struct expr *x)
{
    struct field *f = field_open(x->lang, NULL, 0, FIELD_WORK);
    bool analytic = is_analytic(f, x->nodes);
    size_t variables = 0;
    for (size_t i = 0; i < f->n; i++)
        variables += f->g[i].kind == GENERATOR_VARIABLE;
    analytic = analytic && variables <= 1;
    field_close(f);
    return analytic;
}
