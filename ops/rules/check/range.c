/* Intersects the intervals of all conditions on one term. This is exact, but does not detect
 * contradictions between conditions on different terms. */
#include "ops/rules/check/range.h"
#include "ops/expr/rational.h"

#include <string.h>

/* ---- intervals ---- */

static void raise_low(struct range *r, const char *low, bool open)
{
    int order = r->low ? number_compare(low, r->low) : 1;
    r->low_open = order > 0 ? open : r->low_open || (order == 0 && open);
    r->low = order > 0 ? low : r->low;
}

static void lower_high(struct range *r, const char *high, bool open)
{
    int order = r->high ? number_compare(high, r->high) : -1;
    r->high_open = order < 0 ? open : r->high_open || (order == 0 && open);
    r->high = order < 0 ? high : r->high;
}

static void add_predicate(struct range *r, enum rule_predicate p)
{
    r->real = r->real || p <= RULE_NONPOSITIVE || p == RULE_REAL;
    r->integer = r->integer || p == RULE_INTEGER || p == RULE_EVEN || p == RULE_ODD;
    switch (p) {
    case RULE_POSITIVE: raise_low(r, "0", true); break;
    case RULE_NONNEGATIVE: raise_low(r, "0", false); break;
    case RULE_NEGATIVE: lower_high(r, "0", true); break;
    case RULE_NONPOSITIVE: lower_high(r, "0", false); break;
    case RULE_EVEN: r->even = true; break;
    case RULE_ODD: r->odd = true; break;
    case RULE_NONZERO: r->nonzero = true; break;
    case RULE_CONSTANT: r->constant = true; break;
    case RULE_SYMBOL: r->symbol = true; break;
    case RULE_REAL:
    case RULE_INTEGER:
    case RULE_MAYBE_NONZERO:
    case RULE_FREE_OF:
    case RULE_CONSTANT_OR_OTHER_SYMBOL:
    case RULE_LESS:
    case RULE_LESS_EQUAL:
    case RULE_N_PREDICATES: break;
    }
}

static const char *as_number(const struct expr *x)
{
    return x->nodes[0].op == X_NUM ? x->nodes[0].leaf : NULL;
}

/* For a condition that compares t or c t, c > 0, with a number: that number divided by c; else
 * NULL. */
static const char *end_of(struct arena *a, const struct rule_condition *c, int side,
                          const struct expr *t)
{
    const struct expr *x = &c->args[side];
    const char *number = as_number(&c->args[1 - side]);
    if (!number || expr_equal(x, t))
        return number;
    struct expr of = x->nodes[0].op == X_MUL ? expr_child(x, 1) : *x;
    bool scaled = x->nodes[0].op == X_MUL && x->nodes[1].op == X_NUM &&
                  number_sign(x->nodes[1].leaf) > 0 && expr_equal(&of, t);
    return scaled ? number_combine(a, '/', number, x->nodes[1].leaf, EXPR_MAX_DIGITS) : NULL;
}

static void add_comparison(struct range *r, struct arena *a, const struct rule_condition *c,
                           const struct expr *t)
{
    bool open = c->predicate == RULE_LESS;
    const char *high = end_of(a, c, 0, t), *low = end_of(a, c, 1, t);
    r->real = r->real || expr_equal(&c->args[0], t) || expr_equal(&c->args[1], t);
    if (high)
        lower_high(r, high, open);
    if (low)
        raise_low(r, low, open);
}

void range_of_term(struct range *out, struct arena *a, const struct rule *r, const struct expr *t)
{
    *out = (struct range){0};
    if (as_number(t)) {
        raise_low(out, as_number(t), false);
        lower_high(out, as_number(t), false);
    }
    if (t->nodes[0].op == X_ABS)
        raise_low(out, "0", false);
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *k = &r->conditions[i];
        if (k->predicate == RULE_LESS || k->predicate == RULE_LESS_EQUAL)
            add_comparison(out, a, k, t);
        else if (expr_equal(&k->args[0], t))
            add_predicate(out, k->predicate);
    }
}

bool range_is_empty(const struct range *r)
{
    if ((r->even && r->odd) || (r->constant && r->symbol))
        return true;
    int order = r->low && r->high ? number_compare(r->low, r->high) : -1;
    return order > 0 || (order == 0 &&
                         (r->low_open || r->high_open || (r->nonzero && number_sign(r->low) == 0)));
}
