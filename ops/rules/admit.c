/* Conditions at an instance: which of the values that a rule is tried at it speaks of. Questions of
 * sign and order are asked of balls, to rising precision; those of form, of the terms. */
#include "ops/expr/rational.h"
#include "ops/rules/checker.h"

#include <string.h>

enum answer { NO, YES, OPEN }; /* OPEN: more precision may tell */

static enum answer decide(bool yes, bool no)
{
    return yes ? YES : no ? NO : OPEN;
}

/* A sign question about a real ball. */
static enum answer ask_sign(enum rule_predicate p, const acb_struct *z)
{
    const arb_struct *x = acb_realref(z);
    if (!ball_is_real(z))
        return NO;
    switch (p) {
    case RULE_POSITIVE: return decide(arb_is_positive(x), arb_is_nonpositive(x));
    case RULE_NONNEGATIVE: return decide(arb_is_nonnegative(x), arb_is_negative(x));
    case RULE_NEGATIVE: return decide(arb_is_negative(x), arb_is_nonnegative(x));
    case RULE_NONPOSITIVE: return decide(arb_is_nonpositive(x), arb_is_positive(x));
    case RULE_REAL: return YES;
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
    case RULE_INTEGER:
    case RULE_EVEN:
    case RULE_ODD:
    case RULE_CONSTANT:
    case RULE_SYMBOL:
    case RULE_FREE_OF:
    case RULE_CONSTANT_OR_OTHER_SYMBOL:
    case RULE_LESS:
    case RULE_LESS_EQUAL:
    case RULE_N_PREDICATES: break;
    }
    return NO;
}

static enum answer ask_integer(const acb_struct *z, bool any, bool odd)
{
    if (!ball_is_real(z) || !arb_is_int(acb_realref(z)))
        return NO;
    return any || (arb_is_int_2exp_si(acb_realref(z), 1) == 0) == odd ? YES : NO;
}

/* Built of numbers by + - * / alone. */
static bool is_rational(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op != X_NUM && (x->nodes[i].op < X_ADD || x->nodes[i].op > X_DIV))
            return false;
    return true;
}

bool checker_is_symbol(const struct expr *x)
{
    return x->nodes[0].op == X_SYM && !lang_is_constant(x->nodes[0].leaf);
}

static bool occurs_in(const char *symbol, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_SYM && strcmp(x->nodes[i].leaf, symbol) == 0)
            return true;
    return false;
}

static bool is_free_of(const struct expr *x, const struct expr *of)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (of->nodes[i].op == X_SYM && !lang_is_constant(of->nodes[i].leaf) &&
            occurs_in(of->nodes[i].leaf, x))
            return false;
    return true;
}

static enum answer ask(struct checker *c, enum rule_predicate p, const struct expr args[2],
                       slong precision)
{
    switch (p) {
    case RULE_CONSTANT: return is_rational(&args[0]) ? YES : NO;
    case RULE_SYMBOL: return checker_is_symbol(&args[0]) ? YES : NO;
    case RULE_FREE_OF: return is_free_of(&args[0], &args[1]) ? YES : NO;
    case RULE_CONSTANT_OR_OTHER_SYMBOL:
        return is_rational(&args[0]) ||
                       (args[0].nodes[0].op == X_SYM && is_free_of(&args[0], &args[1]))
                   ? YES
                   : NO;
    case RULE_POSITIVE:
    case RULE_NONNEGATIVE:
    case RULE_NEGATIVE:
    case RULE_NONPOSITIVE:
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
    case RULE_REAL:
    case RULE_INTEGER:
    case RULE_EVEN:
    case RULE_ODD:
    case RULE_LESS:
    case RULE_LESS_EQUAL:
    case RULE_N_PREDICATES: break;
    }
    const acb_struct *x = ball_evaluate(&c->left, &args[0], precision);
    if (!acb_is_finite(x))
        return c->left.hopeless ? NO : OPEN;
    if (p == RULE_INTEGER || p == RULE_EVEN || p == RULE_ODD)
        return ask_integer(x, p == RULE_INTEGER, p == RULE_ODD);
    if (p == RULE_NONZERO || p == RULE_MAYBE_NONZERO)
        return decide(!acb_contains_zero(x), acb_is_zero(x));
    if (p != RULE_LESS && p != RULE_LESS_EQUAL)
        return ask_sign(p, x);
    if (args[0].nodes[0].op == X_NUM && args[1].nodes[0].op == X_NUM) { /* 1/3 has no exact ball */
        int order = number_compare(args[0].nodes[0].leaf, args[1].nodes[0].leaf);
        return order < 0 || (order == 0 && p == RULE_LESS_EQUAL) ? YES : NO;
    }
    const acb_struct *y = ball_evaluate(&c->right, &args[1], precision);
    if (!acb_is_finite(y))
        return c->right.hopeless ? NO : OPEN;
    if (!ball_is_real(x) || !ball_is_real(y))
        return NO;
    const arb_struct *u = acb_realref(x), *v = acb_realref(y);
    return p == RULE_LESS ? decide(arb_lt(u, v), arb_ge(u, v)) : decide(arb_le(u, v), arb_gt(u, v));
}

static bool condition_holds(struct checker *c, struct arena *a, const struct rule_condition *cond,
                            const struct instance *values)
{
    struct expr args[2];
    for (unsigned i = 0; i < cond->n_args; i++)
        args[i] = sampler_substitute(a, &c->sampler, &cond->args[i], values);
    enum answer answer = OPEN;
    for (slong p = CHECK_FIRST_PRECISION; answer == OPEN && p <= CHECK_LAST_PRECISION; p *= 2)
        answer = ask(c, cond->predicate, args, p);
    return answer == YES;
}

bool checker_admits(struct checker *c, struct arena *a, const struct rule_condition *conditions,
                    size_t n, const struct instance *values)
{
    for (size_t i = 0; i < n; i++)
        if (!condition_holds(c, a, &conditions[i], values))
            return false;
    return true;
}
