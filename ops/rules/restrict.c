/* Domains as conditions. */
#include "ops/rules/parse_condition.h"

#include <string.h>

static void add_condition(struct rule *r, struct arena *a, enum rule_predicate predicate,
                          struct expr first, const struct expr *second)
{
    struct expr none = {0};
    for (size_t i = 0; i < r->n_conditions; i++)
        if (r->conditions[i].predicate == predicate &&
            expr_equal(&r->conditions[i].args[0], &first) &&
            expr_equal(&r->conditions[i].args[1], second ? second : &none))
            return;
    struct rule_condition *all = arena_array(a, struct rule_condition, r->n_conditions + 1);
    if (r->n_conditions)
        memcpy(all, r->conditions, r->n_conditions * sizeof *all);
    struct rule_condition *c = &all[r->n_conditions++];
    *c = (struct rule_condition){.predicate = predicate, .args = {first}, .n_args = 1};
    if (second)
        c->args[c->n_args++] = *second;
    r->conditions = all;
}

void rule_restrict(struct rule *r, struct arena *a, const struct ball_domain *d)
{
    static const struct {
        const char *word;
        enum rule_predicate predicate;
    } words[] = {{"positive", RULE_POSITIVE},
                 {"nonnegative", RULE_NONNEGATIVE},
                 {"nonzero", RULE_NONZERO},
                 {"real", RULE_REAL},
                 {"integer", RULE_INTEGER}};
    const char *name = d->name + (*d->name == '?');
    if (!pattern_has_variable(&r->lhs, name) || !lang_is(r->lhs.lang, &lang_calculus))
        return;
    struct expr variable = expr_leaf(a, r->lhs.lang, X_VAR, name);
    for (size_t i = 0; i < sizeof words / sizeof *words && !d->low && !d->high; i++)
        if (strcmp(d->domain, words[i].word) == 0)
            add_condition(r, a, words[i].predicate, variable, NULL);
    if (d->low)
        add_condition(r, a, RULE_LESS, expr_leaf(a, r->lhs.lang, X_NUM, d->low), &variable);
    if (d->high) {
        struct expr high = expr_leaf(a, r->lhs.lang, X_NUM, d->high);
        add_condition(r, a, RULE_LESS, variable, &high);
    }
}
