#include "ops/expr/undefined/undefined.h"

#include "ops/expr/compare/compare.h"
#include "ops/expr/equality/algebraic.h"
#include "ops/expr/equality/exact.h"
#include "ops/expr/normal/normal.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <string.h>

enum { POINTS = 2 }; /* at which a value is looked for first */

struct question {
    struct arena *a;
    const struct ball_domain *domains;
    size_t n_domains;
    const char *why;
};

static struct expr number(const struct question *q, const struct expr *x, const char *text)
{
    return expr_leaf(q->a, x->lang, X_NUM, text);
}

static bool is_zero(const struct question *q, struct expr x)
{
    struct expr zero = number(q, &x, "0");
    const char *way;
    return normal_equal(&way, &x, &zero, q->domains, q->n_domains) || algebraic_equal(&x, &zero);
}

/* Whether x is proved to be zero, and so `of` has no value. */
static bool vanishes(struct question *q, const struct expr *of, struct expr x)
{
    if (!is_zero(q, x))
        return false;
    const char *part = expr_infix(q->a, of);
    q->why = x.nodes->op == X_NUM
                 ? part
                 : arena_printf(q->a, "%s, where %s is 0", part, expr_infix(q->a, &x));
    return true;
}

static struct expr applied(const struct question *q, uint16_t op, struct expr x)
{
    return expr_apply(q->a, x.lang, op, &x, 1);
}

/* 1 + x^2 or 1 - x^2 */
static struct expr with_square(const struct question *q, uint16_t op, struct expr x)
{
    return expr_binary(q->a, op, number(q, &x, "1"),
                       expr_binary(q->a, X_POW, x, number(q, &x, "2")));
}

/* sin, ..., coth: whether the quotient that they are has the denominator 0. */
static bool is_pole(struct question *q, const struct expr *of, struct expr x)
{
    uint16_t op = of->nodes->op, sine = op < X_SINH ? X_SIN : X_SINH,
             cosine = op < X_SINH ? X_COS : X_COSH;
    switch (lang_circular(op).bottom) {
    case LANG_ONE: return false;
    case LANG_SINE: return vanishes(q, of, applied(q, sine, x));
    case LANG_COSINE: return vanishes(q, of, applied(q, cosine, x));
    }
    return false;
}

/* Operators with one argument. */
static bool is_singular(struct question *q, const struct expr *of, struct expr x)
{
    uint16_t op = of->nodes->op;
    if (lang_is_circular(op))
        return is_pole(q, of, x);
    switch ((enum expr_op)op) {
    case X_LN:
    case X_ASEC:
    case X_ACSC:
    case X_ASECH:
    case X_ACSCH: return vanishes(q, of, x);
    case X_ATAN: return vanishes(q, of, with_square(q, X_ADD, x));
    case X_ATANH: return vanishes(q, of, with_square(q, X_SUB, x));
    case X_ACOT: return vanishes(q, of, x) || vanishes(q, of, with_square(q, X_ADD, x));
    case X_ACOTH: return vanishes(q, of, x) || vanishes(q, of, with_square(q, X_SUB, x));
    default: return false;
    }
}

/* A power of zero has a value for positive exponents only. */
static bool is_power_of_zero(struct question *q, const struct expr *of, struct expr base,
                             struct expr exponent)
{
    bool number = exponent.nodes->op == X_NUM;
    if (number ? number_sign(exponent.nodes->leaf) > 0 : !is_zero(q, exponent))
        return false;
    return vanishes(q, of, base);
}

/* An operator outside its domain, where the argument is a number. */
static bool is_outside(struct question *q, const struct expr *of)
{
    const struct own_operator *o = of->lang->ops[of->nodes->op].own;
    const struct expr_node *x = of->nodes + 1;
    for (unsigned k = 0; o && k < of->nodes->arity; k++, x += x->size) {
        const struct ball_domain *d = &o->domain[k];
        if (!d->name || x->op != X_NUM)
            continue;
        int above = d->low ? number_compare(x->leaf, d->low) : 1;
        int below = d->high ? number_compare(d->high, x->leaf) : 1;
        bool inside = above >= !d->low_closed && below >= !d->high_closed &&
                      (strcmp(d->domain, "positive") != 0 || number_sign(x->leaf) > 0) &&
                      (strcmp(d->domain, "nonnegative") != 0 || number_sign(x->leaf) >= 0) &&
                      (strcmp(d->domain, "nonzero") != 0 || number_sign(x->leaf) != 0) &&
                      (strcmp(d->domain, "integer") != 0 || number_is_integer(x->leaf));
        if (inside)
            continue;
        q->why = arena_printf(q->a, "%s, where %s is outside of the domain", expr_infix(q->a, of),
                              x->leaf);
        return true;
    }
    return false;
}

static bool has_no_value(struct question *q, const struct expr *of)
{
    const struct expr_node *x = of->nodes;
    if (x->op >= X_DECLARED)
        return is_outside(q, of);
    if (x->arity == 1)
        return is_singular(q, of, expr_sub(of, 1));
    if (x->op == X_DIV)
        return vanishes(q, of, expr_sub(of, 1 + x[1].size));
    return x->op == X_POW && is_power_of_zero(q, of, expr_sub(of, 1), expr_sub(of, 1 + x[1].size));
}

static bool has_undefined_part(struct question *q, const struct expr *x)
{
    for (uint32_t i = x->n; i-- > 0;) { /* inner ones first */
        struct expr part = expr_sub(x, i);
        if (has_no_value(q, &part))
            return true;
    }
    return false;
}

static bool has_value(const struct question *q, const struct expr *x)
{
    const struct ball_options options = {
        .points = POINTS, .domains = q->domains, .n_domains = q->n_domains};
    struct ball_reference *r = ball_reference_new(x, &options);
    bool has = ball_reference_points(r) > 0;
    ball_reference_free(r);
    return has;
}

bool expr_is_undefined(const char **why, struct arena *a, const struct expr *x,
                       const struct ball_domain *domains, size_t n_domains)
{
    struct question q = {a, domains, n_domains, NULL};
    struct expr expanded;
    bool found = !exact_applies(x->lang) && !has_value(&q, x) &&
                 (has_undefined_part(&q, x) ||
                  (own_expand(&expanded, a, x) && has_undefined_part(&q, &expanded)));
    *why = q.why;
    return found;
}
