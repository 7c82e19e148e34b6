/* Conditions are predicates over pattern terms. Comparisons are shorthand for them: `?a > 0` is
 * positive(?a), `?a != 0` is nonzero(?a), `?a < ?b` is less(?a, ?b). */
#include "ops/rules/parse_condition.h"
#include "ops/expr/syntax/lexical.h"

#include <stdlib.h>
#include <string.h>

static void trim(const char *text, size_t *at, size_t *end)
{
    while (*at < *end && is_space(text[*at]))
        ++*at;
    while (*end > *at && is_space(text[*end - 1]))
        --*end;
}

/* Position of the next of these characters outside parentheses, or `end`. */
static size_t find_outside(const char *text, size_t at, size_t end, const char *marks)
{
    long depth = 0;
    for (; at < end && (depth > 0 || !strchr(marks, text[at])); at++)
        depth += (text[at] == '(') - (text[at] == ')');
    return at;
}

/* Position of "?name" in [at, end). */
static size_t find_variable(const struct source_text *source, size_t at, size_t end,
                            const char *name)
{
    size_t n = strlen(name);
    for (size_t i = at; i + n < end; i++)
        if (source->text[i] == '?' && memcmp(source->text + i + 1, name, n) == 0 &&
            identifier_length(source->text + i + 1, source->text + end) == n)
            return i;
    return at;
}

enum err_code pattern_check_bound(const struct expr *x, const struct expr *lhs,
                                  const struct source_text *source, size_t at, size_t end,
                                  const char *message, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *v = &x->nodes[i];
        if (v->op == X_VAR && !expr_has(lhs, X_VAR, v->leaf))
            return err_fail_at(e, source, find_variable(source, at, end, v->leaf), message,
                               v->leaf);
    }
    return OK;
}

enum err_code pattern_check(const struct expr *x, const struct pattern_reader *r, size_t at,
                            size_t end, struct err *e)
{
    if (x->n > RULES_MAX_NODES)
        return err_fail_at(e, r->source, at, "a term of a rule has at most %d nodes",
                           RULES_MAX_NODES);
    return r->lhs ? err_up(e, pattern_check_bound(x, r->lhs, r->source, at, end,
                                                  "?%s does not occur on the left side", e))
                  : OK;
}

enum err_code pattern_parse(struct expr *out, const struct pattern_reader *r, size_t at, size_t end,
                            struct err *e)
{
    bool is_latex = latex_is(r->source->text + at, end - at);
    enum err_code code =
        is_latex ? latex_parse(out, r->latex, r->a, r->lang, r->source, at, end - at, true, NULL, e)
                 : expr_parse_infix(out, r->a, r->lang, r->source, at, end - at, true, e);
    return err_up(e, code ? code : pattern_check(out, r, at, end, e));
}

static enum err_code fail_unknown(const struct pattern_reader *r, size_t at, size_t length,
                                  struct err *e)
{
    const char *names[RULE_N_PREDICATES];
    for (int p = 0; p < RULE_N_PREDICATES; p++)
        names[p] = rule_predicate_name(p);
    int shown = length < RULES_MAX_NAME ? (int)length : RULES_MAX_NAME;
    const char *word = arena_strndup(r->a, r->source->text + at, (size_t)shown);
    enum err_code code = err_fail_at(e, r->source, at, "unknown condition '%s'", word);
    return err_suggest(code, word, names, RULE_N_PREDICATES, e);
}

/* Parses NAME(TERM) or NAME(TERM, TERM); the name has `length` bytes. */
static enum err_code parse_predicate(struct rule_condition *out, const struct pattern_reader *r,
                                     size_t at, size_t length, size_t end, struct err *e)
{
    const char *text = r->source->text;
    int p = rule_predicate_find(text + at, length);
    if (p < 0)
        return err_up(e, fail_unknown(r, at, length, e));
    size_t open = at + length;
    while (open < end && is_space(text[open]))
        open++;
    if (open == end || text[open] != '(' || text[end - 1] != ')')
        return err_fail_at(e, r->source, open < end ? end - 1 : end, "expected '%s(...)'",
                           rule_predicate_name(p));
    *out = (struct rule_condition){.predicate = p};
    unsigned arity = rule_predicate_arity(p);
    for (size_t from = open + 1, to; from <= end - 1; from = to + 1) {
        to = find_outside(text, from, end - 1, ",");
        if (out->n_args == arity)
            return err_fail_at(e, r->source, from, "'%s' takes %u argument%s",
                               rule_predicate_name(p), arity, arity == 1 ? "" : "s");
        enum err_code code = pattern_parse(&out->args[out->n_args++], r, from, to, e);
        if (code)
            return err_up(e, code);
    }
    if (out->n_args != arity)
        return err_fail_at(e, r->source, end - 1, "'%s' takes %u arguments", rule_predicate_name(p),
                           arity);
    return OK;
}

static enum err_code parse_comparison(struct rule_condition *out, const struct pattern_reader *r,
                                      size_t at, size_t sign, size_t end, struct err *e)
{
    const char *text = r->source->text;
    struct expr x, y;
    enum err_code code;
    bool or_equal = sign + 1 < end && text[sign + 1] == '=';
    if ((code = pattern_parse(&x, r, at, sign, e)) ||
        (code = pattern_parse(&y, r, sign + 1 + or_equal, end, e)))
        return err_up(e, code);
    if (text[sign] == '!') {
        if (!or_equal || !expr_node_is(y.nodes, X_NUM, "0"))
            return err_fail_at(e, r->source, sign, "'!=' must be followed by 0");
        *out = (struct rule_condition){.predicate = RULE_NONZERO, .args = {x}, .n_args = 1};
    } else if (expr_node_is(y.nodes, X_NUM, "0")) {
        enum rule_predicate p = text[sign] == '>' ? (or_equal ? RULE_NONNEGATIVE : RULE_POSITIVE)
                                                  : (or_equal ? RULE_NONPOSITIVE : RULE_NEGATIVE);
        *out = (struct rule_condition){.predicate = p, .args = {x}, .n_args = 1};
    } else {
        bool swap = text[sign] == '>';
        *out = (struct rule_condition){.predicate = or_equal ? RULE_LESS_EQUAL : RULE_LESS,
                                       .args = {swap ? y : x, swap ? x : y},
                                       .n_args = 2};
    }
    return OK;
}

static enum err_code parse_one(struct rule_condition *out, const struct pattern_reader *r,
                               size_t at, size_t end, struct err *e)
{
    const char *text = r->source->text;
    trim(text, &at, &end);
    if (at == end)
        return err_fail_at(e, r->source, at, "expected a condition, such as positive(?a)");
    size_t sign = find_outside(text, at, end, "<>!");
    if (sign < end)
        return err_up(e, parse_comparison(out, r, at, sign, end, e));
    size_t length = identifier_length(text + at, text + end);
    if (length == 0)
        return err_fail_at(e, r->source, at, "expected a condition, such as positive(?a)");
    return err_up(e, parse_predicate(out, r, at, length, end, e));
}

static int compare_conditions(const void *x, const void *y)
{
    const struct rule_condition *c = x, *d = y;
    if (c->predicate != d->predicate)
        return c->predicate < d->predicate ? -1 : 1;
    int order = 0;
    for (unsigned i = 0; i < c->n_args && order == 0; i++)
        order = expr_compare(&c->args[i], &d->args[i]);
    return order;
}

void conditions_sort(struct rule_condition *list, size_t *n)
{
    size_t kept = 0;
    qsort(list, *n, sizeof *list, compare_conditions);
    for (size_t i = 0; i < *n; i++)
        if (kept == 0 || compare_conditions(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    *n = kept;
}

enum err_code conditions_parse(const struct rule_condition **out, size_t *n,
                               const struct pattern_reader *r, size_t at, size_t end, struct err *e)
{
    struct rule_condition *list = arena_array(r->a, struct rule_condition, RULES_MAX_CONDITIONS);
    size_t count = 0;
    for (size_t to; at <= end; at = to + 1) {
        to = find_outside(r->source->text, at, end, ",");
        if (count == RULES_MAX_CONDITIONS)
            return err_fail_at(e, r->source, at, "a rule has at most %d conditions",
                               RULES_MAX_CONDITIONS);
        enum err_code code = parse_one(&list[count++], r, at, to, e);
        if (code)
            return err_up(e, code);
    }
    conditions_sort(list, &count);
    *out = list;
    *n = count;
    return OK;
}
