/* Facts of applications, of operators of one's own among them. A definition tells them as a term
 * over the arguments; what a file of operators says of values holds wherever the arguments are
 * real, or have a domain: elsewhere there is no value then. */
#include "ops/egraph/facts/fact.h"
#include "ops/expr/own/own.h"

#include <string.h>

struct interval fact_interval_of(struct facts *t, const struct ball_domain *d)
{
    struct interval out = interval_all();
    double unused;
    uint32_t low = d->low ? constant_parse(&t->constants, d->low) : NO_CONSTANT;
    uint32_t high = d->high ? constant_parse(&t->constants, d->high) : NO_CONSTANT;
    if (low != NO_CONSTANT) {
        constant_bounds(&out.lo, &unused, &t->constants, low);
        out.lo_open = !d->low_closed;
    }
    if (high != NO_CONSTANT) {
        constant_bounds(&unused, &out.hi, &t->constants, high);
        out.hi_open = !d->high_closed;
    }
    return out;
}

/* Values lie in the domain; nothing is said of variables. */
static uint32_t fact_of_domain(struct facts *t, const struct ball_domain *d)
{
    struct fact f = {.vars = UINT64_MAX, .constant = NO_CONSTANT, .degree = FACT_NO_DEGREE};
    struct interval v = fact_interval_of(t, d);
    if (strcmp(d->domain, "nonzero") == 0)
        f.flags = FACT_NONZERO;
    else if (strcmp(d->domain, "complex") != 0)
        f.flags = FACT_REAL;
    if (strcmp(d->domain, "integer") == 0)
        f.flags |= FACT_INTEGER;
    if (strcmp(d->domain, "nonnegative") == 0 || strcmp(d->domain, "positive") == 0)
        v = interval_meet(
            v, interval_make(0, INFINITY, strcmp(d->domain, "positive") == 0 && !d->low, true));
    if (f.flags & FACT_REAL)
        fact_set_interval(&f, v);
    return facts_intern(t, f);
}

static uint32_t both(struct facts *t, uint32_t a, uint32_t b)
{
    uint32_t met;
    return facts_meet(&met, t, a, b) ? met : a; /* a conflict: there is no value */
}

static uint32_t fact_of_term(struct facts *t, const struct expr_node *x, const uint32_t *args)
{
    if (x->op == X_NUM) {
        uint32_t number = constant_parse(&t->constants, x->leaf);
        return number == NO_CONSTANT ? facts_unknown(t, 0) : facts_constant(t, number);
    }
    if (x->op == X_SYM)
        return lang_is_constant(x->leaf) ? facts_known_symbol(t, x->leaf)
                                         : args[own_argument_number(x->leaf)];
    uint32_t kids[LANG_MAX_ARITY] = {0};
    const struct expr_node *child = x + 1;
    for (unsigned k = 0; k < x->arity; k++, child += child->size)
        kids[k] = fact_of_term(t, child, args);
    return facts_apply(t, x->op, x->op < X_DECLARED, kids, x->arity);
}

/* A class with a constant holds its number, by folding; a definition folds nothing. */
static uint32_t without_constant(struct facts *t, uint32_t id)
{
    struct fact f = t->items[id];
    if (f.constant == NO_CONSTANT)
        return id;
    f.constant = NO_CONSTANT;
    return facts_intern(t, f);
}

static uint32_t fact_of_own(struct facts *t, unsigned op, const uint32_t *args)
{
    const struct op_info *info = &t->lang->ops[op];
    const struct own_operator *own = info->own;
    uint64_t vars = 0;
    bool holds = true;
    for (unsigned k = 0; k < info->arity; k++) {
        vars |= t->items[args[k]].vars;
        holds = holds && (own->domain[k].name || t->items[args[k]].flags & FACT_REAL);
    }
    uint32_t fact = facts_unknown(t, vars);
    if (own->value.n)
        fact = without_constant(t, fact_of_term(t, own->value.nodes, args));
    for (unsigned k = 0; k < own->n_values && holds; k++)
        fact = both(t, fact, fact_of_domain(t, &own->values[k]));
    return fact;
}

uint32_t facts_apply(struct facts *t, unsigned op, bool interpreted, const uint32_t *args, size_t n)
{
    bool own = !interpreted && n > 0 && n <= 2 && t->lang->ops[op].own;
    if (!own && (!interpreted || n == 0 || n > 2)) {
        uint64_t vars = 0;
        for (size_t i = 0; i < n; i++)
            vars |= t->items[args[i]].vars;
        return facts_unknown(t, vars);
    }
    uint32_t second = n == 2 ? args[1] : 0, id;
    if (facts_recall(&id, t, op, args[0], second))
        return id;
    if (own) {
        id = fact_of_own(t, op, args);
    } else {
        struct fact a = t->items[args[0]], b = t->items[second]; /* copies: items may move */
        id = facts_intern(t, fact_of_operation(t, op, &a, n == 2 ? &b : NULL));
    }
    facts_remember(t, op, args[0], second, id);
    return id;
}
