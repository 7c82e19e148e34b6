/* Predicates of conditions, domains as conditions, and the order and groups of rule sets. */
#include "ops/rules/parse_rules.h"

#include "ops/expr/syntax/lexical.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned arity;
} predicates[RULE_N_PREDICATES] = {
    [RULE_POSITIVE] = {"positive", 1},
    [RULE_NONNEGATIVE] = {"nonnegative", 1},
    [RULE_NEGATIVE] = {"negative", 1},
    [RULE_NONPOSITIVE] = {"nonpositive", 1},
    [RULE_NONZERO] = {"nonzero", 1},
    [RULE_MAYBE_NONZERO] = {"maybe_nonzero", 1},
    [RULE_REAL] = {"real", 1},
    [RULE_INTEGER] = {"integer", 1},
    [RULE_EVEN] = {"even", 1},
    [RULE_ODD] = {"odd", 1},
    [RULE_CONSTANT] = {"constant", 1},
    [RULE_SYMBOL] = {"symbol", 1},
    [RULE_FREE_OF] = {"free_of", 2},
    [RULE_CONSTANT_OR_OTHER_SYMBOL] = {"constant_or_other_symbol", 2},
    [RULE_LESS] = {"less", 2},
    [RULE_LESS_EQUAL] = {"less_equal", 2},
};

const char *rule_predicate_name(enum rule_predicate p)
{
    return predicates[p].name;
}

unsigned rule_predicate_arity(enum rule_predicate p)
{
    return predicates[p].arity;
}

int rule_predicate_find(const char *name, size_t n)
{
    for (int p = 0; p < RULE_N_PREDICATES; p++)
        if (lexical_is(name, n, predicates[p].name))
            return p;
    return -1;
}

char *rule_condition_text(struct arena *a, const struct rule_condition *c)
{
    const char *name = rule_predicate_name(c->predicate);
    if (c->n_args == 2)
        return arena_printf(a, "%s(%s, %s)", name, expr_infix(a, &c->args[0]),
                            expr_infix(a, &c->args[1]));
    return arena_printf(a, "%s(%s)", name, expr_infix(a, &c->args[0]));
}

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
    if (!expr_has(&r->lhs, X_VAR, name) || !lang_is(r->lhs.lang, &lang_calculus))
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

bool rule_is_reverse(size_t *length, const char *name)
{
    size_t n = strlen(name);
    bool reverse = n && name[n - 1] == '~';
    *length = n - reverse;
    return reverse;
}

static int compare_rules(const void *x, const void *y)
{
    const struct rule *r = x, *s = y;
    int c = strcmp(r->group, s->group);
    return c ? c : strcmp(r->name, s->name);
}

void rules_sort(struct rules *rules)
{
    if (rules->n)
        qsort(rules->rules, rules->n, sizeof *rules->rules, compare_rules);
}

/* Whether `name` is the group or one of its parent groups. */
static bool group_is_under(const char *group, const char *name)
{
    size_t n = strlen(name);
    return strncmp(group, name, n) == 0 && (group[n] == '\0' || group[n] == '.');
}

static bool is_under_any(const char *group, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (group_is_under(group, names[i]))
            return true;
    return false;
}

static enum err_code check_group_names(const struct rules *rules, const char *const *names,
                                       size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        const char *nearest = NULL;
        bool found = false;
        for (size_t k = 0; k < rules->n && !found; k++) {
            found = group_is_under(rules->rules[k].group, names[i]);
            if (!nearest)
                nearest = err_nearest(names[i], &rules->rules[k].group, 1);
        }
        if (found)
            continue;
        enum err_code code = err_fail(e, ERR_INPUT, "no rule is in the group '%s'", names[i]);
        if (nearest)
            err_hint(e, "did you mean '%s'?", nearest);
        return code;
    }
    return OK;
}

enum err_code rules_select(struct rules *rules, const char *const *include, size_t n_include,
                           const char *const *exclude, size_t n_exclude, struct err *e)
{
    enum err_code code;
    if ((code = check_group_names(rules, include, n_include, e)) ||
        (code = check_group_names(rules, exclude, n_exclude, e)))
        return err_up(e, code);
    size_t kept = 0;
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *r = &rules->rules[i];
        bool in = n_include ? is_under_any(r->group, include, n_include) : !r->off;
        if (in && !is_under_any(r->group, exclude, n_exclude))
            rules->rules[kept++] = *r;
    }
    rules->n = kept;
    return OK;
}

enum err_code rules_append(struct rules *s, struct arena *a, struct name_map *names,
                           const struct rule *r, bool both_ways, const struct source_text *source,
                           size_t at, struct err *e)
{
    bool added;
    uint64_t *place =
        name_map_put(names, arena_printf(a, "%s/%s", r->group, r->name), s->n, &added);
    if (!added) {
        const struct rule *first = &s->rules[*place];
        return err_fail_at(e, source, at, "group %s already has a rule '%s' (%s:%d)", r->group,
                           r->name, first->file ? first->file : "a record", first->line);
    }
    if (s->n == RULES_MAX)
        return err_fail_at(e, source, at, "more than %d rules", RULES_MAX);
    s->rules = arena_grow(a, s->rules, s->n, &s->cap, sizeof *s->rules);
    s->rules[s->n++] = *r;
    if (!both_ways)
        return OK;
    struct rule reverse = *r;
    reverse.name = arena_printf(a, "%s~", r->name);
    reverse.lhs = r->rhs;
    reverse.rhs = r->lhs;
    return err_up(e, rules_append(s, a, names, &reverse, false, source, at, e));
}
