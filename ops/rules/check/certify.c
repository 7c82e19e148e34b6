/* The verdict on a rule; see certify.h. */
#include "ops/rules/check/certify.h"
#include "ops/expr/equality/exact.h"
#include "ops/rules/check/guard.h"
#include "ops/rules/check/proof.h"
#include "ops/rules/check/range.h"
#include "ops/rules/check/trial.h"

enum { MIN_POINTS = 3 }; /* fewer certify nothing, unless the rule has no variables */

static bool is_interpreted(const struct rule *r)
{
    bool all = expr_is_interpreted(&r->lhs) && expr_is_interpreted(&r->rhs);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            all = all && expr_is_interpreted(&r->conditions[i].args[k]);
    return all;
}

static bool asks_maybe(const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (r->conditions[i].predicate == RULE_MAYBE_NONZERO)
            return true;
    return false;
}

static char *list_conditions(struct arena *a, const struct rule *r)
{
    char *text = arena_strdup(a, "no value meets ");
    for (size_t i = 0; i < r->n_conditions; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
                            rule_condition_text(a, &r->conditions[i]));
    return text;
}

static bool conditions_contradict(const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        if (c->predicate == RULE_LESS && expr_equal(&c->args[0], &c->args[1]))
            return true;
        for (unsigned k = 0; k < c->n_args; k++) {
            struct range range;
            range_of_term(&range, r, &c->args[k]);
            if (range_is_empty(&range))
                return true;
        }
    }
    return false;
}

static bool has_variables(const struct rule *r)
{
    for (uint32_t i = 0; i < r->lhs.n; i++) {
        const struct expr_node *x = &r->lhs.nodes[i];
        if (x->op == X_VAR || (x->op == X_SYM && !lang_is_constant(x->leaf)))
            return true;
    }
    return false;
}

/* Languages with normal forms need no instances: the verdict is a proof either way. */
static void check_exactly(Eqloom__Certificate *out, struct arena *a, const struct rule *r)
{
    struct exact_result result;
    struct err e = {0};
    if (exact_compare(&result, a, &r->lhs, &r->rhs, &e)) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = arena_strdup(a, e.message);
        return;
    }
    out->points = (uint32_t)result.points;
    out->verdict = result.equal ? EQLOOM__VERDICT__CERTIFIED : EQLOOM__VERDICT__REFUTED;
    if (!result.equal)
        out->witness = arena_strdup(a, result.witness);
    else
        out->proof = lang_is(r->lhs.lang, &lang_boolean) ? "truth table" : "expansion";
}

enum err_code rule_check(Eqloom__Certificate *out, struct arena *a, const struct rule *r,
                         const struct rule_check_options *options, struct err *e)
{
    eqloom__certificate__init(out);
    struct trial_result o;
    if (!is_interpreted(r)) {
        out->verdict = EQLOOM__VERDICT__UNCHECKED;
        return OK;
    }
    if (exact_applies(r->lhs.lang)) {
        check_exactly(out, a, r);
        return OK;
    }
    if (conditions_contradict(r)) {
        out->verdict = EQLOOM__VERDICT__VACUOUS;
        out->remark = list_conditions(a, r);
        return OK;
    }
    enum err_code code = trial_run(&o, a, r, options, e);
    if (code)
        return err_up(e, code);
    out->points = o.points;
    if (o.witness) {
        out->verdict = EQLOOM__VERDICT__REFUTED;
        const char *guard = guard_suggest(a, r, options);
        out->witness = o.witness;
        if (guard)
            out->guard = arena_strdup(a, guard);
    } else if (o.points == 0 && o.admitted) {
        out->verdict = EQLOOM__VERDICT__VACUOUS;
        out->remark = "its sides are nowhere both defined";
    } else if (o.points == 0) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = "no instance was found that meets its conditions";
    } else if (asks_maybe(r)) {
        out->verdict = EQLOOM__VERDICT__UNCHECKED;
    } else if (o.points < MIN_POINTS && options->points >= MIN_POINTS && has_variables(r)) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
    } else {
        const char *way;
        out->verdict = EQLOOM__VERDICT__CERTIFIED;
        if (rule_prove(&way, a, r))
            out->proof = arena_strdup(a, way);
        if (o.one_sided)
            out->remark = o.one_sided;
    }
    return OK;
}

enum err_code rule_check_message(Eqloom__Certificate *out, struct arena *a,
                                 const Eqloom__Rule *message,
                                 const struct rule_check_options *options, struct err *e)
{
    const struct language *lang = NULL;
    struct rule r;
    enum err_code code = rule_from_message(&r, &lang, a, message, e);
    if (!code)
        code = rule_check(out, a, &r, options, e);
    return err_up(e, code);
}
