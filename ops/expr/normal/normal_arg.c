/* An argument is determined if the element is a power of e^(i m) and m is bounded; otherwise it is
 * the argument of an existing element plus a number of quarter turns, if the known signs of real
 * and imaginary parts determine that number. */
#include "ops/expr/normal/normal_arg.h"

#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_range.h"
#include "ops/expr/normal/normal_sign.h"

const element *normal_square(struct field *f, const element *x)
{
    const element *conjugate = normal_conjugate(f, x);
    return conjugate ? field_mul(f, x, conjugate) : NULL;
}

const element *normal_logarithm(struct field *f, enum generator_kind kind, const element *x)
{
    if (!x)
        return NULL;
    for (size_t i = 1; i < f->n; i++) {
        if (f->g[i].kind != kind)
            continue;
        if (field_equal(f, f->g[i].of, x))
            return field_generator(f, i);
        if (kind != GENERATOR_LN_ABS)
            continue;
        if (field_equal(f, normal_square(f, f->g[i].of), normal_square(f, x)))
            return field_generator(f, i);
        const element *product = field_mul(f, f->g[i].of, x); /* ln |1/u| = -ln |u| */
        if (field_equal(f, normal_square(f, product), field_rational(f, 1, 1)))
            return field_neg(f, field_generator(f, i));
    }
    struct generator g = {.kind = kind, .of = x, .real = kind != GENERATOR_LN};
    g.smooth = kind == GENERATOR_LN_ABS && sign_is_smooth(f, x) &&
               (sign_is_strict(f, fmpz_mpoly_q_numref(x)) || range_sign(f, x));
    if (kind == GENERATOR_LN_ABS && sign_of(f, x) > 0) {
        int sign = sign_strictly(f, field_sub(f, x, field_rational(f, 1, 1)));
        g.low = sign > 0 ? "0" : NULL;
        g.high = sign < 0 ? "0" : NULL;
    }
    return field_generator(f, field_add_generator(f, &g));
}

/* Twice the real or the imaginary part. */
static const element *part(struct field *f, const element *x, const element *conjugate,
                           bool imaginary)
{
    const element *p = imaginary ? field_div(f, field_sub(f, x, conjugate), field_generator(f, 0))
                                 : field_add(f, x, conjugate);
    return field_reduce(f, p);
}

static bool depends_on_complex(const struct field *f, const element *x)
{
    bool used[FIELD_MAX_GENERATORS], found = !x;
    field_used(f, used, x);
    for (size_t i = 1; i < f->n && !found; i++) {
        const struct generator *g = &f->g[i];
        bool exponential = used[i] && g->kind == GENERATOR_EXPONENTIAL;
        found =
            used[i] && (g->kind == GENERATOR_CONJUGATE || g->kind == GENERATOR_OWN ||
                        (g->kind == GENERATOR_VARIABLE && !g->real) ||
                        (g->of && depends_on_complex(f, g->of)) ||
                        (exponential && depends_on_complex(f, f->families[g->family].exponent)));
    }
    return found;
}

bool normal_leaves_axis(struct field *f, const element *x, const element *conjugate)
{
    if (depends_on_complex(f, x)) /* a line in the complex plane is not a set of isolated points */
        return false;
    if (sign_is_meromorphic(f, x))
        return true;
    const element *p = part(f, x, conjugate, true);
    const element *square = field_reduce(f, field_mul(f, p, p));
    return square && sign_is_meromorphic(f, square) && !field_is_zero(f, square);
}

/* ---- e^(i m) ---- */

/* The exponent, divided by i, of a monomial in I and exponentials; NULL if it has other factors. */
static const element *turn_of(struct field *f, const fmpz_mpoly_t p)
{
    ulong e[FIELD_MAX_GENERATORS];
    if (fmpz_mpoly_length(p, f->ring) != 1)
        return NULL;
    fmpz_mpoly_get_term_exp_ui(e, p, 0, f->ring);
    const element *half = field_mul(f, field_named(f, 'p'), field_rational(f, 1, 2));
    const element *sum = field_mul(f, half, field_rational(f, (slong)e[0], 1));
    if (fmpz_sgn(p->coeffs) < 0)
        sum = field_add(f, sum, field_named(f, 'p'));
    for (size_t i = 1; i < f->n && sum; i++) {
        if (!e[i] || f->g[i].positive)
            continue;
        if (f->g[i].kind != GENERATOR_EXPONENTIAL)
            return NULL;
        const element *exponent = f->families[f->g[i].family].exponent;
        if (!field_equal(f, normal_conjugate(f, exponent), field_neg(f, exponent)))
            return NULL;
        exponent =
            field_mul(f, exponent, field_rational(f, (slong)e[i], (ulong)field_root_of(f, i)));
        sum = field_add(f, sum, field_div(f, exponent, field_generator(f, 0)));
    }
    return sum;
}

/* The argument of a power of e^(i m), if m is bounded within one turn. */
static const element *arg_of_turn(struct field *f, const element *x)
{
    const element *turn =
        field_sub(f, turn_of(f, fmpz_mpoly_q_numref(x)), turn_of(f, fmpz_mpoly_q_denref(x)));
    const element *found = NULL;
    arb_t range, pi;
    arb_init(range);
    arb_init(pi);
    arb_const_pi(pi, 64);
    for (slong k = -4; k <= 4 && turn && !found; k++) {
        const element *shifted =
            field_sub(f, turn, field_mul(f, field_named(f, 'p'), field_rational(f, 2 * k, 1)));
        if (!shifted || !range_enclose(range, f, shifted))
            break;
        arb_abs(range, range);
        found = arb_lt(range, pi) ? shifted : NULL;
    }
    arb_clear(range);
    arb_clear(pi);
    return found;
}

/* ---- quarter turns ---- */

/* Bounds the argument by quarter turns, -2 to 2. */
static void find_quarters(int *low, int *high, struct field *f, const element *x,
                          const element *conjugate)
{
    const element *re = part(f, x, conjugate, false), *im = part(f, x, conjugate, true);
    int right = re ? sign_of(f, re) : 0, up = im ? sign_of(f, im) : 0;
    *low = up > 0 ? 0 : -2;
    *high = up < 0 ? 0 : 2;
    if (right > 0) {
        *low = *low < -1 ? -1 : *low;
        *high = *high > 1 ? 1 : *high;
    } else if (right < 0 && up) {
        *low = up > 0 ? 1 : -2;
        *high = up > 0 ? 2 : -1;
    }
}

/* Returns k such that x = i^k y times something positive, or -1 if unknown. */
static int quarters_between(struct field *f, const element *x, const element *conjugate_of_y)
{
    const element *ratio = field_reduce(f, field_mul(f, x, conjugate_of_y));
    for (int k = 0; k < 2 && ratio; k++) {
        int sign = normal_is_real(f, ratio) ? sign_of(f, ratio) : 0;
        if (sign)
            return sign > 0 ? k : k + 2;
        ratio = field_reduce(f, field_div(f, ratio, field_generator(f, 0)));
    }
    return -1;
}

/* The unique number of quarter turns, congruent to k, that moves an argument in the range `from`
 * into the range `to`; -100 if it is not unique. */
static int only_turn(int k, const int *from, const int *to)
{
    int found = -100;
    for (int turn = k - 8; turn <= k + 4; turn += 4)
        if (from[0] + turn <= to[1] && from[1] + turn >= to[0]) {
            if (found != -100)
                return -100;
            found = turn;
        }
    return found;
}

/* Expresses the argument of x, or of its conjugate, by that of generator i; NULL if unknown. */
static const element *arg_by(struct field *f, size_t i, const element *x, const element *conjugate,
                             bool conjugated)
{
    const element *y = f->g[i].of, *z = normal_conjugate(f, y);
    const element *arg = field_generator(f, i);
    int k = quarters_between(f, conjugated ? conjugate : x, z), from[2], to[2], turn;
    if (k == 0)
        return conjugated ? field_neg(f, arg) : arg;
    if (k < 0)
        return NULL;
    find_quarters(&from[0], &from[1], f, y, z);
    find_quarters(&to[0], &to[1], f, conjugated ? conjugate : x, conjugated ? x : conjugate);
    if ((turn = only_turn(k, from, to)) == -100)
        return NULL;
    arg = field_add(f, arg, field_mul(f, field_named(f, 'p'), field_rational(f, turn, 2)));
    return conjugated ? field_neg(f, arg) : arg;
}

const element *normal_arg(struct field *f, const element *x, const element *conjugate)
{
    const element *arg = arg_of_turn(f, x);
    for (size_t i = 1; i < f->n && !arg; i++)
        if (f->g[i].kind == GENERATOR_ARG) {
            arg = arg_by(f, i, x, conjugate, false);
            arg = arg ? arg : arg_by(f, i, x, conjugate, true);
        }
    if (arg)
        return arg;
    arg = normal_logarithm(f, GENERATOR_ARG, x);
    const element *twice = part(f, x, conjugate, false);
    if (!arg || f->g[f->n - 1].of != x)
        return arg;
    const element *up = part(f, x, conjugate, true);
    bool right = twice && sign_strictly(f, twice) > 0;
    int side = up ? sign_strictly(f, up) : 0;
    struct generator *g = &f->g[f->n - 1];
    g->low = side > 0 ? "0" : NULL;
    g->high = side < 0 ? "0" : NULL;
    /* x stays away from the cut */
    g->smooth = sign_is_smooth(f, x) && (right || side);
    return arg;
}
