/* See algebraic.h. Sizes are binary logarithms. */
#include "ops/expr/equality/algebraic.h"

#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/rational.h"

#include <flint/ulong_extras.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROOTS = 24, MAX_TERMS = 48, MAX_PRECISION = 30000, MAX_ORDER = 10000, DIGITS = 200 };

/* ---- rational numbers and angles ---- */

static const char *combine(struct arena *a, char op, const char *x, const char *y)
{
    return x && y ? number_combine(a, op, x, y, DIGITS) : NULL;
}

static const char *rational_of(struct arena *a, const struct expr *x)
{
    return number_of_term(a, x, DIGITS);
}

/* Returns c for c*pi. */
static const char *angle_of(struct arena *a, const struct expr *x)
{
    uint16_t op = x->nodes[0].op;
    if (expr_node_is(x->nodes, X_SYM, "pi"))
        return "1";
    const char *number = rational_of(a, x);
    if (number)
        return number_sign(number) == 0 ? "0" : NULL;
    if (op != X_ADD && op != X_SUB && op != X_MUL && op != X_DIV)
        return NULL;
    struct expr left = expr_child(x, 0), right = expr_child(x, 1);
    const char *p = angle_of(a, &left), *q = angle_of(a, &right);
    switch (op) {
    case X_ADD: return combine(a, '+', p, q);
    case X_SUB: return combine(a, '-', p, q);
    case X_DIV: return combine(a, '/', p, rational_of(a, &right));
    }
    return p ? combine(a, '*', p, rational_of(a, &right))
             : combine(a, '*', q, rational_of(a, &left));
}

static ulong denominator(const char *number)
{
    const char *slash = strchr(number, '/');
    return slash ? strtoul(slash + 1, NULL, 10) : 1;
}

/* ---- the bound ---- */

/* A number is U/L with algebraic integers U and L: upper bounds of the sizes of their conjugates.
 */
struct bound {
    double u, l;
};

struct measure {
    struct arena *a;
    double degree; /* of the extension by the roots */
    ulong order;   /* order of its root of unity */
    struct expr roots[MAX_ROOTS];
    ulong powers[MAX_ROOTS];
    size_t n;
};

static bool measure(struct bound *out, struct measure *m, const struct expr *x);

static struct bound of_number(const char *number)
{
    size_t p = strcspn(number, "/"), all = strlen(number);
    return (struct bound){3.33 * (double)p, all > p ? 3.33 * (double)(all - p - 1) : 0};
}

/* Adds the k-th root of x. */
static bool add_root(struct bound *b, struct measure *m, const struct expr *x, ulong k)
{
    size_t i = 0;
    while (i < m->n && !(m->powers[i] == k && expr_equal(&m->roots[i], x)))
        i++;
    if (i == MAX_ROOTS)
        return false;
    if (i == m->n) {
        m->roots[m->n] = *x;
        m->powers[m->n++] = k;
        m->degree *= (double)k;
    }
    double n = (double)k;
    if (b->u >= b->l)
        b->u = (b->u + (n - 1) * b->l) / n;
    else
        b->l = (b->l + (n - 1) * b->u) / n;
    return true;
}

static void invert(struct bound *b)
{
    *b = (struct bound){b->l, b->u};
}

static bool measure_power(struct bound *out, struct measure *m, const struct expr *x)
{
    struct expr base = expr_child(x, 0), exponent = expr_child(x, 1);
    const char *power = rational_of(m->a, &exponent);
    double p = power ? number_double(power) : 0;
    if (!power || fabs(p) > 10000 || denominator(power) > 100 || !measure(out, m, &base))
        return false;
    ulong k = denominator(power);
    if (p < 0)
        invert(out);
    out->u *= fabs(p) * (double)k;
    out->l *= fabs(p) * (double)k;
    return k == 1 || add_root(out, m, x, k);
}

/* Bounds a circular function of an angle: (z - 1/z)/(2 i) and the like, z a root of unity. */
static bool measure_circular(struct bound *out, struct measure *m, const struct expr *x)
{
    struct expr angle = expr_child(x, 0);
    const char *c = angle_of(m->a, &angle);
    if (!c || denominator(c) > MAX_ORDER)
        return false;
    ulong order = 4 * denominator(c); /* of z and i */
    m->order = m->order / n_gcd(m->order, order) * order;
    *out = (struct bound){1, 1};
    return m->order <= MAX_ORDER;
}

static bool measure(struct bound *out, struct measure *m, const struct expr *x)
{
    uint16_t op = x->nodes[0].op;
    if (op == X_NUM) {
        *out = of_number(x->nodes[0].leaf);
        return true;
    }
    if (op == X_POW)
        return measure_power(out, m, x);
    if (op >= X_SIN && op <= X_COT)
        return measure_circular(out, m, x);
    if (op != X_ADD && op != X_SUB && op != X_MUL && op != X_DIV && op != X_SQRT)
        return false;
    struct expr left = expr_child(x, 0), right;
    struct bound a, b;
    if (!measure(&a, m, &left))
        return false;
    if (op == X_SQRT) {
        *out = a;
        return add_root(out, m, x, 2);
    }
    right = expr_child(x, 1);
    if (!measure(&b, m, &right))
        return false;
    if (op == X_DIV)
        invert(&b);
    if (op == X_MUL || op == X_DIV)
        *out = (struct bound){a.u + b.u, a.l + b.l};
    else
        *out = (struct bound){fmax(a.u + b.l, b.u + a.l) + 1, a.l + b.l};
    return true;
}

/* Whether |x| < 2^bits. */
static bool is_below(const struct expr *x, double bits, slong precision)
{
    struct ball_evaluator v = {0};
    mag_t size;
    mag_init(size);
    const acb_struct *z = ball_evaluate(&v, x, precision);
    acb_get_mag(size, z);
    bool below = acb_is_finite(z) && mag_cmp_2exp_si(size, (slong)floor(bits)) < 0;
    mag_clear(size);
    ball_evaluator_free(&v);
    return below;
}

static bool is_zero(struct arena *a, const struct expr *x)
{
    struct measure m = {.a = a, .degree = 1, .order = 1};
    struct bound b;
    if (!measure(&b, &m, x))
        return false;
    double degree = m.degree * (double)(m.order > 2 ? n_euler_phi(m.order) : 1);
    double bits = (degree - 1) * b.u + b.l + 1;
    return bits < MAX_PRECISION && is_below(x, -bits, (slong)bits + 128);
}

/* ---- sums of logarithms ---- */

struct form {
    struct arena *a;
    const struct language *lang;
    struct {
        struct expr of;
        const char *c;
        bool turned; /* divided by sqrt(-1) */
    } terms[MAX_TERMS];
    size_t n;
};

static struct expr number(struct form *f, const char *text)
{
    return expr_leaf(f->a, f->lang, X_NUM, text);
}

static bool add_term(struct form *f, struct expr of, const char *c, bool turned)
{
    if (!c || f->n == MAX_TERMS)
        return false;
    f->terms[f->n].of = of;
    f->terms[f->n].c = c;
    f->terms[f->n++].turned = turned;
    return true;
}

/* The formulas of docs/rules.md: inverse functions as sums of multiples of logarithms, divided by
 * sqrt(-1) if `turned`. pi is ln(-1)/sqrt(-1). */
#define ASIN "+ * sqrt -1 ?z sqrt - 1 * ?z ?z"
static const struct {
    bool turned;
    struct {
        const char *c, *of;
    } terms[2];
} inverses[X_DECLARED] = {
    [X_ASIN] = {true, {{"1", ASIN}}},
    [X_ACOS] = {true, {{"1/2", "-1"}, {"-1", ASIN}}},
    [X_ATAN] = {true, {{"1/2", "+ 1 * sqrt -1 ?z"}, {"-1/2", "- 1 * sqrt -1 ?z"}}},
    [X_ASINH] = {false, {{"1", "+ ?z sqrt + * ?z ?z 1"}}},
    [X_ACOSH] = {false, {{"1", "+ ?z * sqrt - ?z 1 sqrt + ?z 1"}}},
    [X_ATANH] = {false, {{"1/2", "+ 1 ?z"}, {"-1/2", "- 1 ?z"}}},
};

static bool add_inverse(struct form *f, uint16_t op, struct expr z, const char *c, bool turned)
{
    bool known = true;
    if (!inverses[op].terms[0].c) {
        z = expr_binary(f->a, X_DIV, number(f, "1"), z);
        op = lang_of_reciprocal(op);
    }
    if (inverses[op].turned && turned) /* (1/i)/i is -1 */
        c = combine(f->a, '-', "0", c);
    for (int k = 0; k < 2 && inverses[op].terms[k].c && known; k++) {
        struct expr of;
        known =
            !expr_from_prefix(&of, f->a, f->lang, inverses[op].terms[k].of, NULL) &&
            add_term(f, expr_replace(f->a, &of, X_VAR, "z", &z),
                     combine(f->a, '*', c, inverses[op].terms[k].c), turned != inverses[op].turned);
    }
    return known;
}

/* Adds c x to the sum. */
static bool collect(struct form *f, const struct expr *x, const char *c, bool turned)
{
    uint16_t op = x->nodes[0].op;
    if (op == X_NUM)
        return number_sign(x->nodes[0].leaf) == 0;
    if (op == X_SYM) /* pi = ln(-1)/i */
        return expr_node_is(x->nodes, X_SYM, "pi") &&
               add_term(f, number(f, "-1"), turned ? combine(f->a, '-', "0", c) : c, !turned);
    if (op == X_LN)
        return add_term(f, expr_child(x, 0), c, turned);
    struct expr left = expr_child(x, 0);
    if (x->nodes[0].arity == 1)
        return op >= X_ASIN && !lang_is_circular(op) && add_inverse(f, op, left, c, turned);
    struct expr right = expr_child(x, 1);
    const char *p = rational_of(f->a, &left), *q = rational_of(f->a, &right);
    const char *minus = combine(f->a, '-', "0", c);
    switch ((enum expr_op)op) {
    case X_ADD: return collect(f, &left, c, turned) && collect(f, &right, c, turned);
    case X_SUB: return collect(f, &left, c, turned) && minus && collect(f, &right, minus, turned);
    case X_MUL:
        if (p || q)
            return (c = combine(f->a, '*', c, p ? p : q)) &&
                   collect(f, p ? &right : &left, c, turned);
        if (expr_node_is_i(left.nodes) || expr_node_is_i(right.nodes)) /* i = -1/i */
            return collect(f, expr_node_is_i(left.nodes) ? &right : &left, turned ? c : minus,
                           !turned);
        return false;
    case X_DIV:
        if (expr_node_is_i(right.nodes))
            return collect(f, &left, turned ? minus : c, !turned);
        return q && (c = combine(f->a, '/', c, q)) && collect(f, &left, c, turned);
    default: return false;
    }
}

/* Whether the terms over sqrt(-1), or the others, sum to zero: for integer c, the product of powers
 * is 1 and the sum is smaller than 2 pi. */
static bool vanishes(struct form *f, bool turned)
{
    const char *scale = "1";
    struct expr products[2] = {number(f, "1"), number(f, "1")}, sum = number(f, "0");
    for (size_t i = 0; i < f->n && scale; i++)
        if (f->terms[i].turned == turned) {
            const char *c = combine(f->a, '*', f->terms[i].c, scale);
            char *by = c ? arena_printf(f->a, "%lu", denominator(c)) : NULL;
            scale = combine(f->a, '*', scale, by);
        }
    for (size_t i = 0; i < f->n && scale; i++) {
        if (f->terms[i].turned != turned)
            continue;
        const char *c = combine(f->a, '*', f->terms[i].c, scale);
        if (!c)
            return false;
        struct expr *product = &products[number_sign(c) < 0];
        struct expr power = number(f, *c == '-' ? c + 1 : c);
        *product =
            expr_binary(f->a, X_MUL, *product, expr_binary(f->a, X_POW, f->terms[i].of, power));
        struct expr ln = expr_apply(f->a, f->lang, X_LN, &f->terms[i].of, 1);
        sum = expr_binary(f->a, X_ADD, sum, expr_binary(f->a, X_MUL, number(f, c), ln));
    }
    struct expr difference = expr_binary(f->a, X_SUB, products[0], products[1]);
    return scale && is_below(&sum, 2, 256) && is_zero(f->a, &difference);
}

static bool is_constant(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_VAR || x->nodes[i].op >= X_DECLARED ||
            (x->nodes[i].op == X_SYM && !lang_is_constant(x->nodes[i].leaf)))
            return false;
    return true;
}

bool algebraic_equal(const struct expr *x, const struct expr *y)
{
    struct arena a = {0};
    struct form *f = arena_new(&a, struct form);
    *f = (struct form){.a = &a, .lang = x->lang};
    bool equal = false;
    if (is_constant(x) && is_constant(y)) {
        struct expr difference = expr_binary(f->a, X_SUB, *x, *y);
        equal = is_zero(&a, &difference) ||
                (collect(f, &difference, "1", false) && vanishes(f, false) && vanishes(f, true));
    }
    arena_free(&a);
    return equal;
}
