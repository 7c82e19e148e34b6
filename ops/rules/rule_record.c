/* Rules as records. Terms are prefix tokens, so the spacing, comments and place of a rule in its
 * file do not matter. A record may come from elsewhere: everything that parsing guarantees of a
 * rule is checked again. */
#include "ops/expr/equality/exact.h"
#include "ops/rules/parse_condition.h"

#include <stdlib.h>
#include <string.h>

static void mark_operators(bool *used, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        used[x->nodes[i].op] = true;
}

static int compare_operators(const void *x, const void *y)
{
    return strcmp((*(Eqloom__Operator *const *)x)->name, (*(Eqloom__Operator *const *)y)->name);
}

/* The declared operators that the rule uses, sorted by name. */
static void add_operators(Eqloom__Rule *out, struct arena *a, const struct language *lang,
                          const struct rule *r)
{
    bool *used = arena_array(a, bool, lang->n_ops);
    mark_operators(used, &r->lhs);
    mark_operators(used, &r->rhs);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            mark_operators(used, &r->conditions[i].args[k]);
    size_t n = 0;
    for (unsigned op = X_DECLARED; op < lang->n_ops; op++)
        n += used[op];
    if (!n)
        return;
    out->operators = arena_array(a, Eqloom__Operator *, n);
    for (unsigned op = X_DECLARED; op < lang->n_ops; op++) {
        if (!used[op])
            continue;
        Eqloom__Operator *o = arena_alloc(a, sizeof *o);
        eqloom__operator__init(o);
        o->name = (char *)lang->ops[op].name;
        o->arity = lang->ops[op].arity;
        out->operators[out->n_operators++] = o;
    }
    qsort(out->operators, n, sizeof *out->operators, compare_operators);
}

void rule_to_message(Eqloom__Rule *out, struct arena *a, const struct rules *set,
                     const struct rule *r)
{
    eqloom__rule__init(out);
    out->group = arena_strdup(a, r->group);
    out->name = arena_strdup(a, r->name);
    out->lhs = expr_prefix(a, &r->lhs);
    out->rhs = expr_prefix(a, &r->rhs);
    if (r->n_conditions)
        out->conditions = arena_array(a, Eqloom__Condition *, r->n_conditions);
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        Eqloom__Condition *m = arena_alloc(a, sizeof *m);
        eqloom__condition__init(m);
        m->predicate = (char *)rule_predicate_name(c->predicate);
        m->arguments = arena_array(a, char *, c->n_args);
        for (unsigned k = 0; k < c->n_args; k++)
            m->arguments[m->n_arguments++] = expr_prefix(a, &c->args[k]);
        out->conditions[out->n_conditions++] = m;
    }
    add_operators(out, a, set->lang, r);
    if (!lang_is(set->lang, &lang_calculus))
        out->language = arena_strdup(a, set->lang->name);
}

struct record_reader {
    struct arena *a;
    const struct language *lang;
    const char *where; /* "group/name", for messages */
    const struct rule *rule;
};

/* A term; but for the left side itself, its variables are those of the left side. */
static enum err_code read_pattern(struct expr *out, const struct record_reader *r, const char *text,
                                  struct err *e)
{
    struct source_text source = {r->where, text, strlen(text)};
    const struct expr *lhs = out == &r->rule->lhs ? NULL : &r->rule->lhs;
    struct pattern_reader ends = {r->a, r->lang, &source, lhs};
    enum err_code code = expr_parse_prefix(out, r->a, r->lang, &source, 0, source.len, true, e);
    return err_up(e, code ? code : pattern_check(out, &ends, 0, source.len, e));
}

static enum err_code declare_operators(const struct language **lang, struct arena *a,
                                       const Eqloom__Rule *m, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; !code && i < m->n_operators; i++) {
        const Eqloom__Operator *o = m->operators[i];
        int op = lang_find(*lang, o->name, strlen(o->name));
        if (op < X_DECLARED || (*lang)->ops[op].arity != o->arity)
            code = lang_declare(lang, a, *lang, o->name, o->arity, e);
    }
    return err_up(e, code);
}

static enum err_code read_condition(struct rule_condition *out, const struct record_reader *r,
                                    const Eqloom__Condition *m, struct err *e)
{
    enum err_code code = OK;
    int p = rule_predicate_find(m->predicate, strlen(m->predicate));
    if (p < 0)
        return err_fail(e, ERR_INPUT, "rule %s: unknown condition '%s'", r->where, m->predicate);
    if (m->n_arguments != rule_predicate_arity(p))
        return err_fail(e, ERR_INPUT, "rule %s: '%s' takes %u arguments", r->where, m->predicate,
                        rule_predicate_arity(p));
    out->predicate = p;
    out->n_args = (uint8_t)m->n_arguments;
    for (size_t k = 0; !code && k < m->n_arguments; k++)
        code = read_pattern(&out->args[k], r, m->arguments[k], e);
    return err_up(e, code);
}

static enum err_code take_language(const struct language **lang, const Eqloom__Rule *m,
                                   const char *where, struct err *e)
{
    const struct language *base = lang_by_name(m->language);
    if (!base)
        return err_fail(e, ERR_INPUT, "rule %s: unknown language '%s'", where, m->language);
    if (!*lang)
        *lang = base;
    if (!lang_is(*lang, base))
        return err_fail(e, ERR_INPUT, "rule %s is of the %s language, not of the %s language",
                        where, base->name, (*lang)->name);
    if (m->n_conditions && exact_applies(base))
        return err_fail(e, ERR_INPUT, "rule %s: rules of the %s language have no conditions", where,
                        base->name);
    return OK;
}

enum err_code rule_from_message(struct rule *out, const struct language **lang, struct arena *a,
                                const Eqloom__Rule *message, struct err *e)
{
    const char *where = arena_printf(a, "%s/%s", message->group, message->name);
    enum err_code code;
    *out = (struct rule){.group = message->group, .name = message->name};
    if ((code = take_language(lang, message, where, e)) ||
        (code = declare_operators(lang, a, message, e)))
        return err_up(e, code);
    struct record_reader r = {a, *lang, where, out};
    if ((code = read_pattern(&out->lhs, &r, message->lhs, e)) ||
        (code = read_pattern(&out->rhs, &r, message->rhs, e)))
        return err_up(e, code);
    if (message->n_conditions > RULES_MAX_CONDITIONS)
        return err_fail(e, ERR_INPUT, "rule %s: more than %d conditions", where,
                        RULES_MAX_CONDITIONS);
    struct rule_condition *conditions =
        arena_array(a, struct rule_condition, message->n_conditions);
    for (size_t i = 0; !code && i < message->n_conditions; i++)
        code = read_condition(&conditions[i], &r, message->conditions[i], e);
    out->conditions = conditions;
    out->n_conditions = message->n_conditions;
    return err_up(e, code);
}
