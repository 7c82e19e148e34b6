/* See tree_points.h. Each node is evaluated on a line of points around each point, from which
 * differences are taken; a difference has one point less on either side. */
#include "ops/learn/tree/tree_points.h"

#include "ops/expr/lang.h"

#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 2, LINE = 2 * SIDE + 1 };
static const double first = 0.19, last = 24, apart = 1e-3, most = 2;

/* Known from SIDE - side to SIDE + side; side < 0: unknown. */
struct line {
    double complex z[LINE];
    int side;
};

/* ---- tokens ---- */

struct tree_meaning *tree_meanings(struct arena *a, const Eqloom__Vocabulary *v)
{
    struct tree_meaning *out = arena_array(a, struct tree_meaning, v->n_tokens + 1);
    uint32_t variables = 0;
    for (size_t i = 0; i < v->n_tokens; i++) {
        const char *name = v->tokens[i];
        size_t n = strcspn(name, "@"); /* the rest is the token's position */
        int op = lang_find(&lang_calculus, name, n);
        struct tree_meaning *t = &out[i];
        t->op = op >= 0 ? (uint16_t)op : X_VAR;
        if (isdigit((unsigned char)name[name[0] == '-'])) {
            *t = (struct tree_meaning){.op = X_NUM, .number = strtod(name, NULL)};
        } else if (op < 0 && n == 2 && strncmp(name, "pi", n) == 0) {
            *t = (struct tree_meaning){.op = X_NUM, .number = acos(-1)};
        } else if (op < 0 && n == 1 && *name == 'e') {
            *t = (struct tree_meaning){.op = X_NUM, .number = exp(1)};
        } else if (op < 0 && n == 1 && islower((unsigned char)*name)) {
            t->op = X_SYM;
            t->variable = *name == 'x' ? 0 : ++variables;
        }
    }
    return out;
}

/* ---- operators ---- */

static double complex power(double complex x, double complex y)
{
    double n = creal(y);
    if (cimag(y) != 0 || n != round(n) || fabs(n) > 100)
        return cexp(y * clog(x));
    double complex z = 1;
    for (int i = (int)fabs(n); i > 0; i--)
        z *= x;
    return n < 0 ? 1 / z : z;
}

static double complex function(uint16_t op, double complex x)
{
    switch (op) {
    case X_SQRT: return csqrt(x);
    case X_ABS: return cabs(x);
    case X_LN: return clog(x);
    case X_SIN: return csin(x);
    case X_COS: return ccos(x);
    case X_TAN: return ctan(x);
    case X_CSC: return 1 / csin(x);
    case X_SEC: return 1 / ccos(x);
    case X_COT: return 1 / ctan(x);
    case X_ASIN: return casin(x);
    case X_ACOS: return cacos(x);
    case X_ATAN: return catan(x);
    case X_SINH: return csinh(x);
    case X_COSH: return ccosh(x);
    case X_TANH: return ctanh(x);
    case X_CSCH: return 1 / csinh(x);
    case X_SECH: return 1 / ccosh(x);
    case X_COTH: return 1 / ctanh(x);
    case X_ASINH: return casinh(x);
    case X_ACOSH: return cacosh(x);
    case X_ATANH: return catanh(x);
    }
    return NAN;
}

/* On the cut at x > 1, the values that agree with the derivatives, as in Arb. */
static double complex inverse(uint16_t op, double complex x)
{
    double complex y = function(op, x);
    bool cut = op == X_ASIN || op == X_ACOS || op == X_ATANH;
    return cut && cimag(x) == 0 && creal(x) > 1 ? conj(y) : y;
}

/* Returns the operator f such that op(x) = f(1/x). */
static uint16_t of_reciprocal(uint16_t op)
{
    switch (op) {
    case X_ACSC: return X_ASIN;
    case X_ASEC: return X_ACOS;
    case X_ACOT: return X_ATAN;
    case X_ACSCH: return X_ASINH;
    case X_ASECH: return X_ACOSH;
    case X_ACOTH: return X_ATANH;
    }
    return 0;
}

/* Removes the sign of a zero, which would select the side of a cut. */
static double complex plain(double complex z)
{
    return cimag(z) == 0 ? creal(z) : z;
}

static double complex apply(uint16_t op, double complex x, double complex y)
{
    uint16_t other = of_reciprocal(op);
    switch (op) {
    case X_ADD: return plain(x + y);
    case X_SUB: return plain(x - y);
    case X_MUL: return plain(x * y);
    case X_DIV: return plain(x / y);
    case X_POW: return plain(power(x, y));
    }
    return plain(other ? inverse(other, plain(1 / x)) : inverse(op, x));
}

/* ---- nodes ---- */

static double point_at(uint32_t p, uint32_t points)
{
    return points > 1 ? first * pow(last, (double)p / (points - 1)) : 1;
}

static void set_leaf(struct line *out, const struct tree_meaning *t, uint32_t p, uint32_t points)
{
    out->side = t->op == X_NUM || t->op == X_SYM ? SIDE : -1;
    for (int k = 0; k < LINE; k++)
        out->z[k] = t->op == X_NUM     ? t->number
                    : t->variable == 0 ? point_at(p, points) + (k - SIDE) * apart
                                       : point_at((p + 3 * t->variable) % points, points);
}

static void differentiate(struct line *out, const struct line *by, const struct line *x)
{
    out->side = by->z[SIDE + 1] == by->z[SIDE] ? -1 : x->side - 1; /* by x only */
    for (int k = SIDE - out->side; k <= SIDE + out->side; k++)
        out->z[k] = (x->z[k + 1] - x->z[k - 1]) / (2 * apart);
}

static void set_inner(struct line *out, uint16_t op, const struct line *x, const struct line *y)
{
    if (op == X_D) {
        differentiate(out, x, y);
        return;
    }
    out->side = y && y->side < x->side ? y->side : x->side;
    for (int k = SIDE - out->side; k <= SIDE + out->side; k++)
        out->z[k] = apply(op, x->z[k], y ? y->z[k] : 0);
}

static float squash(double x)
{
    return isfinite(x) ? (float)fmax(-most, fmin(most, asinh(x) / 2)) : NAN;
}

static void write_values(float *out, const struct line *x)
{
    double complex z = x->z[SIDE], slope = (x->z[SIDE + 1] - x->z[SIDE - 1]) / (2 * apart);
    double size = cabs(z);
    for (int i = 0; i < TREE_VALUES; i++)
        out[i] = NAN;
    if (x->side < 0 || !isfinite(size))
        return;
    out[0] = squash(creal(z));
    out[1] = squash(cimag(z));
    out[2] = (float)fmax(-most, fmin(most, log(size + 1e-9) / 2));
    if (size > 1e-9) {
        out[3] = (float)(creal(z) / size);
        out[4] = (float)(cimag(z) / size);
    }
    if (x->side < 1 || !isfinite(cabs(slope)))
        return;
    out[5] = squash(creal(slope));
    out[6] = squash(cimag(slope));
    if (size > 1e-9) {
        out[7] = squash(creal(slope / z));
        out[8] = squash(cimag(slope / z));
    }
}

static void encode(float *out, const struct line *x)
{
    double complex z = x->z[SIDE];
    double parts[] = {asinh(creal(z)) / 2, asinh(cimag(z)) / 2};
    bool known = x->side >= 0 && isfinite(parts[0]) && isfinite(parts[1]);
    for (int i = 0; i < TREE_ENCODED; i += 2) {
        double by = (double)(1 << i / 4), part = parts[i / 2 % 2];
        out[i] = known ? (float)sin(by * part) : 0;
        out[i + 1] = known ? (float)cos(by * part) : 0;
    }
}

/* Returns the values of (nodes - roots) nodes. */
static struct line *evaluate(struct arena *a, const struct tree_lists *x,
                             const struct tree_model *m, const struct tree_meaning *meaning)
{
    struct line *lines = arena_array(a, struct line, x->nodes - x->roots);
    for (size_t i = 0; i < x->n_leaves; i++)
        set_leaf(&lines[i], &meaning[x->leaves[i] / m->rows], x->leaves[i] % m->rows, m->rows);
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct tree_group *g = &x->groups[i];
        for (size_t k = 0; k < g->n && g->token < m->tokens; k++) {
            const uint32_t *kids = x->kids + g->kid + k * g->arity;
            set_inner(&lines[g->first + k], meaning[g->token].op, &lines[kids[0]],
                      g->arity > 1 ? &lines[kids[1]] : NULL);
        }
    }
    return lines;
}

void tree_points_evaluate(float *out, struct arena *a, const struct tree_lists *x,
                          const struct tree_model *m, const struct tree_meaning *meaning)
{
    const struct line *lines = evaluate(a, x, m, meaning);
    for (size_t i = 0; i < x->nodes - x->roots; i++)
        write_values(out + i * TREE_VALUES, &lines[i]);
}

void tree_points_encode(float *out, struct arena *a, const struct tree_lists *x,
                        const struct tree_model *m, const struct tree_meaning *meaning)
{
    const struct line *lines = evaluate(a, x, m, meaning);
    for (size_t i = 0; i < x->nodes - x->roots; i++)
        encode(out + i * TREE_ENCODED, &lines[i]);
}

bool tree_points_differ(const float *x, const float *y, uint32_t points)
{
    for (uint32_t i = 0; i < points * TREE_VALUES; i += TREE_VALUES)
        for (int k = 0; k < 2; k++)
            if (fabsf(x[i + k] - y[i + k]) > 1e-3F)
                return true;
    return false;
}
