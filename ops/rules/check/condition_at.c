/* Whether an instance meets the conditions of a rule. Conditions on sign and order are decided by
 * balls of rising precision, those on form by the terms themselves. */
#include "ops/expr/rational.h"
#include "ops/rules/check/trial.h"

#include <string.h>

enum answer { NO, YES, OPEN }; /* OPEN: more precision may tell */

static enum answer decide(bool yes, bool no)
{
    return yes ? YES : no ? NO : OPEN;
}

/* Built of numbers by + - * / alone. */
static bool is_rational(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op != X_NUM && (x->nodes[i].op < X_ADD || x->nodes[i].op > X_DIV))
            return false;
    return true;
}

static bool is_symbol(const struct expr *x)
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

static enum answer compare(struct trial *c, enum rule_predicate p, const struct expr args[2],
                           const acb_struct *x, slong precision)
{
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

static enum answer ask(struct trial *c, enum rule_predicate p, const struct expr args[2],
                       slong precision)
{
    if (p == RULE_CONSTANT)
        return decide(is_rational(&args[0]), true);
    if (p == RULE_SYMBOL)
        return decide(is_symbol(&args[0]), true);
    if (p == RULE_FREE_OF)
        return decide(is_free_of(&args[0], &args[1]), true);
    if (p == RULE_CONSTANT_OR_OTHER_SYMBOL)
        return decide(is_rational(&args[0]) ||
                          (args[0].nodes[0].op == X_SYM && is_free_of(&args[0], &args[1])),
                      true);
    const acb_struct *z = ball_evaluate(&c->left, &args[0], precision);
    const arb_struct *x = acb_realref(z);
    if (!acb_is_finite(z))
        return c->left.hopeless ? NO : OPEN;
    if (p == RULE_NONZERO || p == RULE_MAYBE_NONZERO)
        return decide(!acb_contains_zero(z), acb_is_zero(z));
    if (p == RULE_LESS || p == RULE_LESS_EQUAL)
        return compare(c, p, args, z, precision);
    if (!ball_is_real(z))
        return NO;
    switch (p) {
    case RULE_POSITIVE: return decide(arb_is_positive(x), arb_is_nonpositive(x));
    case RULE_NONNEGATIVE: return decide(arb_is_nonnegative(x), arb_is_negative(x));
    case RULE_NEGATIVE: return decide(arb_is_negative(x), arb_is_nonnegative(x));
    case RULE_NONPOSITIVE: return decide(arb_is_nonpositive(x), arb_is_positive(x));
    case RULE_REAL: return YES;
    case RULE_INTEGER: return decide(arb_is_int(x), true);
    case RULE_EVEN: return decide(arb_is_int_2exp_si(x, 1), true);
    case RULE_ODD: return decide(arb_is_int(x) && !arb_is_int_2exp_si(x, 1), true);
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
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

static bool condition_holds(struct trial *c, struct arena *a, const struct rule_condition *cond,
                            const struct instance *values)
{
    struct expr args[2];
    for (unsigned i = 0; i < cond->n_args; i++)
        args[i] = sampler_substitute(a, &c->sampler, &cond->args[i], values);
    enum answer answer = OPEN;
    for (slong p = TRIAL_FIRST_PRECISION; answer == OPEN && p <= TRIAL_LAST_PRECISION; p *= 2)
        answer = ask(c, cond->predicate, args, p);
    return answer == YES;
}

bool trial_admits(struct trial *c, struct arena *a, const struct rule *r,
                  const struct instance *values)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (!condition_holds(c, a, &r->conditions[i], values))
            return false;
    return true;
}
