/* Compiles a rule set, once for all e-graphs; see ruleset.h. */
#include "ops/egraph/ruleset.h"

#include <stdlib.h>

static bool is_variable(const struct expr *x)
{
    return x->nodes[0].op == X_VAR;
}

static uint8_t levels_of(const struct compiled_rule *r)
{
    unsigned levels = r->lhs.reach;
    if (r->n_conditions && r->lhs.var_reach > levels)
        levels = r->lhs.var_reach; /* facts of variables count */
    if (r->n_conditions && levels == 0)
        levels = 1;
    for (size_t i = 0; i < r->n_conditions; i++)
        for (size_t k = 0; k < r->rule->conditions[i].n_args; k++)
            if (!is_variable(&r->rule->conditions[i].args[k]))
                return LEVELS_ALWAYS; /* the term may stand anywhere */
    if (r->lhs.any && !r->lhs.n_vars)
        return LEVELS_ALWAYS;
    return levels > STAMPS ? LEVELS_ALWAYS : (uint8_t)levels;
}

static enum err_code compile_rule(struct compiled_rule *out, struct ruleset *set,
                                  const struct rule *r, struct err *e)
{
    struct arena *a = &set->arena;
    out->rule = r;
    if (err_up(e, pattern_compile(&out->lhs, a, &set->leaves, &r->lhs, e)) ||
        err_up(e, build_compile(&out->rhs, a, &set->leaves, &out->lhs, &r->rhs, e)))
        return e->code;
    out->n_conditions = r->n_conditions;
    out->conditions = arena_array(a, struct condition, r->n_conditions);
    for (size_t i = 0; i < r->n_conditions; i++) {
        struct condition *c = &out->conditions[i];
        c->predicate = r->conditions[i].predicate;
        c->n_args = r->conditions[i].n_args;
        for (size_t k = 0; k < c->n_args; k++)
            if (err_up(e, build_compile(&c->args[k], a, &set->leaves, &out->lhs,
                                        &r->conditions[i].args[k], e)))
                return e->code;
    }
    out->levels = levels_of(out);
    return OK;
}

struct ruleset *ruleset_new(const struct rules *rules)
{
    struct ruleset *set = calloc(1, sizeof *set);
    if (!set)
        abort();
    set->source = rules;
    set->n = rules->n;
    set->rules = arena_array(&set->arena, struct compiled_rule, rules->n);
    for (size_t i = 0; i < rules->n && !set->too_large; i++) {
        struct err e = {0};
        if (compile_rule(&set->rules[i], set, &rules->rules[i], &e)) {
            set->too_large = true;
            err_fail(&set->problem, e.code, "rule %s/%s: %s", rules->rules[i].group,
                     rules->rules[i].name, e.message);
        }
    }
    return set;
}

void ruleset_free(struct ruleset *set)
{
    if (!set)
        return;
    free(set->leaves.items);
    arena_free(&set->arena);
    free(set);
}
