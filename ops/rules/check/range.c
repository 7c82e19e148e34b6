/* Intersects the intervals of all conditions on one term. This is exact, but does not detect
 * contradictions between conditions on different terms. */
#include "ops/rules/check/range.h"
#include "ops/expr/ball/ball.h"
#include "ops/expr/rational.h"

#include <math.h>
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

/* ---- numbers in a range ---- */

struct numbers {
    const char **items;
    size_t n, max;
};

static void add(struct numbers *l, const char *number)
{
    if (number && l->n < l->max)
        l->items[l->n++] = number;
}

static const char *combine(struct arena *a, char op, const char *x, const char *y)
{
    return number_combine(a, op, x, y, EXPR_MAX_DIGITS);
}

size_t range_numbers(const char **out, size_t max, struct arena *a, const struct range *r)
{
    static const char *const parts[] = {"1/1099511627776", "1/1024", "1/7", "1/2", "3/4"};
    static const char *const steps[] = {"1/1099511627776", "1/1024", "1/7", "1/2", "1", "3", "12",
                                        "1000000007"};
    struct numbers l = {out, 0, max};
    if (r->low && !r->low_open)
        add(&l, r->low);
    if (r->high && !r->high_open)
        add(&l, r->high);
    if (r->low && r->high) {
        const char *width = combine(a, '-', r->high, r->low);
        for (size_t i = 0; width && i < sizeof parts / sizeof *parts; i++) {
            const char *step = combine(a, '*', width, parts[i]);
            add(&l, combine(a, '+', r->low, step));
            add(&l, combine(a, '-', r->high, step));
        }
    } else if (r->low || r->high) {
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            add(&l,
                r->low ? combine(a, '+', r->low, steps[i]) : combine(a, '-', r->high, steps[i]));
    }
    return l.n;
}

/* ---- borders of conditions ---- */

enum { GRID_STEPS = 16, GRID_END = 6, BISECTIONS = 60, MAX_ZEROS = 5, MAX_DENOMINATOR = 64 };

/* The value whose sign decides the condition, for a value of the variable. */
static double difference(const struct rule_condition *c, const char *name, double value)
{
    struct ball_point point = {1, &name, &value, NULL};
    double x = ball_value_real(&c->args[0], &point);
    return c->n_args == 2 ? x - ball_value_real(&c->args[1], &point) : x;
}

static bool has_difference(const struct rule_condition *c, const char *variable)
{
    if (c->predicate > RULE_NONZERO && c->predicate != RULE_LESS && c->predicate != RULE_LESS_EQUAL)
        return false;
    bool found = false;
    for (unsigned k = 0; k < c->n_args; k++)
        for (uint32_t i = 0; i < c->args[k].n; i++) {
            const struct expr_node *x = &c->args[k].nodes[i];
            if (x->op == X_VAR && strcmp(x->leaf, variable) != 0)
                return false;
            if (x->op == X_D || (x->op == X_SYM && !lang_is_constant(x->leaf)))
                return false;
            found = found || x->op == X_VAR;
        }
    return found && !(c->n_args == 1 && c->args[0].n == 1);
}

static const char *dyadic(struct arena *a, double x)
{
    const char *text = arena_printf(a, "%.0f/1099511627776", ldexp(x, 40));
    return number_read(a, text, strlen(text));
}

static void add_zero(struct numbers *l, struct arena *a, double x)
{
    for (int d = 1; d <= MAX_DENOMINATOR; d++) {
        if (fabs(x * d - round(x * d)) < 1e-12) {
            const char *text = arena_printf(a, "%.0f/%d", round(x * d), d);
            add(l, number_read(a, text, strlen(text)));
            break;
        }
    }
    for (double step = 0x1p-30; step < 1; step *= 0x1p13) {
        add(l, dyadic(a, x - step));
        add(l, dyadic(a, x + step));
    }
}

static void bisect(struct numbers *l, struct arena *a, const struct rule_condition *c,
                   const char *name, double low, double high)
{
    bool below = difference(c, name, low) < 0;
    for (int i = 0; i < BISECTIONS && low < high; i++) {
        double middle = low + (high - low) / 2;
        if ((difference(c, name, middle) < 0) == below)
            low = middle;
        else
            high = middle;
    }
    add_zero(l, a, high);
}

size_t range_borders(const char **out, size_t max, struct arena *a, const struct rule *r,
                     const char *variable)
{
    struct numbers l = {out, 0, max};
    const char *name = arena_printf(a, "?%s", variable);
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *k = &r->conditions[i];
        if (!has_difference(k, variable))
            continue;
        int zeros = 0;
        double before = NAN, at = -GRID_END;
        for (int step = 0; step <= 2 * GRID_END * GRID_STEPS && zeros < MAX_ZEROS; step++) {
            double x = -GRID_END + (double)step / GRID_STEPS, value = difference(k, name, x);
            if (value == 0) {
                zeros++;
                add_zero(&l, a, x);
            } else if (before * value < 0) {
                zeros++;
                bisect(&l, a, k, name, at, x);
            }
            before = value;
            at = x;
        }
    }
    return l.n;
}
