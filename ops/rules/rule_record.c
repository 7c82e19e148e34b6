/* Rules as records. Terms are prefix tokens, so spacing, comments and the position of a rule in its
 * file do not matter. Records are untrusted: everything that parsing guarantees is checked again.
 */
#include "ops/expr/equality/exact.h"
#include "ops/expr/own/own.h"
#include "ops/rules/parse_condition.h"

#include <string.h>

/* The language text, with the operators that the rule uses. */
static char *language_of(struct arena *a, const struct language *lang, const struct rule *r)
{
    bool *used = arena_array(a, bool, lang->n_ops);
    language_mark(used, &r->lhs);
    language_mark(used, &r->rhs);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            language_mark(used, &r->conditions[i].args[k]);
    return language_text(a, lang, used);
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
    out->language = language_of(a, set->lang, r);
}

struct record_reader {
    struct arena *a;
    const struct language *lang;
    const char *where; /* "group/name", for messages */
    const struct rule *rule;
};

/* Reads a term; except for the left side itself, it may use only variables of the left side. */
static enum err_code read_pattern(struct expr *out, const struct record_reader *r, const char *text,
                                  struct err *e)
{
    struct source_text source = {r->where, text, strlen(text)};
    const struct expr *lhs = out == &r->rule->lhs ? NULL : &r->rule->lhs;
    struct pattern_reader ends = {r->a, r->lang, &source, lhs};
    enum err_code code = expr_parse_prefix(out, r->a, r->lang, &source, 0, source.len, true, e);
    return err_up(e, code ? code : pattern_check(out, &ends, 0, source.len, e));
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

static enum err_code take_language(const struct language **lang, struct arena *a,
                                   const Eqloom__Rule *m, const char *where, struct err *e)
{
    enum err_code code = language_join(lang, a, m->language, e);
    if (!code && m->n_conditions && exact_applies(*lang))
        return err_fail(e, ERR_INPUT, "rule %s: rules of the %s language have no conditions", where,
                        (*lang)->name);
    return err_up(e, code);
}

enum err_code rule_from_message(struct rule *out, const struct language **lang, struct arena *a,
                                const Eqloom__Rule *message, struct err *e)
{
    const char *where = arena_printf(a, "%s/%s", message->group, message->name);
    enum err_code code;
    *out = (struct rule){.group = message->group, .name = message->name};
    if ((code = take_language(lang, a, message, where, e)))
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
