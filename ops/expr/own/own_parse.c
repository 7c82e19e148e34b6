/* Parses files of operators (docs/operators.md) and the language texts of records, which have the
 * same format in canonical form:
 *
 *     # a comment
 *     operator erf(x) = arb erf
 *         derivative: 2/sqrt(pi)*e^(-x^2)
 *         domain:     x:real
 *         values:     -1<erf<1
 *         latex:      \operatorname{erf}
 *         also:       Erf
 *     operator sinc(x) = sin(x)/x
 *     operator i/2
 *
 * All operators are declared before any term is parsed, so their order does not matter. Comments
 * are blanked in a copy of the text, so offsets are those of the file. */
#include "base/text/file_kind.h"
#include "base/text/utf8.h"
#include "ops/expr/ball/domain.h"
#include "ops/expr/own/own_check.h"
#include "ops/expr/syntax/lexical.h"

#include <stdlib.h>
#include <string.h>

enum part { OPERATOR, DERIVATIVE, LATEX, DOMAIN, VALUES, ALSO, UNKNOWN };
static const char *const keywords[] = {"operator", "derivative", "latex",
                                       "domain",   "values",     "also"};

struct statement {
    enum part part;
    size_t at, end; /* the text after the keyword */
    bool indented;
};

/* An operator that is being parsed. */
struct reading {
    struct own_operator own;
    uint16_t op;
    unsigned arity;
    const char *name, *latex, *also;
    const char *arguments[LANG_MAX_ARITY]; /* names in the file */
    size_t begin, value, end;              /* the name; the text after =, or 0; the end */
    size_t derivative[LANG_MAX_ARITY], values[OWN_MAX_VALUES]; /* positions of these */
};

struct parser {
    struct arena *a;
    struct source_text source; /* without comments */
    struct language *lang;     /* the language being built ... */
    struct op_info *ops;       /* ... and its operators, writable for the new ones */
    struct statement *statements;
    size_t n, cap;
    struct reading *all;
    size_t n_all;
    bool check; /* check derivatives and values; those of a record were checked before */
    struct err *e;
};

static size_t skip_spaces(const struct parser *p, size_t at, size_t end)
{
    while (at < end && is_space(p->source.text[at]))
        at++;
    return at;
}

static size_t trim(const struct parser *p, size_t at, size_t end)
{
    while (end > at && is_space(p->source.text[end - 1]))
        end--;
    return end;
}

static size_t word_length(const struct parser *p, size_t at, size_t end)
{
    return identifier_length(p->source.text + at, p->source.text + end);
}

static bool is_at(const struct parser *p, size_t at, size_t end, char c)
{
    return at < end && p->source.text[at] == c;
}

static char *copy(const struct parser *p, size_t at, size_t end)
{
    return arena_strndup(p->a, p->source.text + at, end - at);
}

/* Returns the part that the keyword names; advances *at past it. */
static enum part part_of(const struct parser *p, size_t *at, size_t end)
{
    size_t n = word_length(p, *at, end);
    for (enum part k = OPERATOR; k < UNKNOWN; k++)
        if (lexical_is(p->source.text + *at, n, keywords[k])) {
            *at += n;
            return k;
        }
    return UNKNOWN;
}

/* An indented line that does not begin with a keyword continues the previous one. */
static void find_statements(struct parser *p)
{
    struct statement *open = NULL;
    for (size_t at = 0, end, next; at < p->source.len; at = next) {
        const char *newline = memchr(p->source.text + at, '\n', p->source.len - at);
        end = newline ? (size_t)(newline - p->source.text) : p->source.len;
        next = end + 1;
        size_t first = skip_spaces(p, at, end), behind = first;
        enum part part = part_of(p, &behind, end);
        if (first == end) {
            open = NULL;
        } else if (open && first > at && part == UNKNOWN) {
            open->end = trim(p, at, end);
        } else {
            p->statements = vec_grow(p->statements, &p->cap, p->n + 1, sizeof *p->statements);
            open = &p->statements[p->n++];
            *open = (struct statement){part, behind, trim(p, behind, end), first > at};
        }
    }
}

/* ---- operator NAME/ARITY, operator NAME(x, y) [= VALUE] ---- */

static enum err_code fail_head(struct parser *p, size_t at)
{
    return err_fail_at(p->e, &p->source, at,
                       "expected 'operator NAME/ARITY' or 'operator NAME(x)', with at most %d "
                       "arguments, as in: operator sinc(x) = sin(x)/x",
                       LANG_MAX_ARITY);
}

static enum err_code read_arguments(struct parser *p, struct reading *r, size_t *at, size_t end)
{
    do {
        size_t name = skip_spaces(p, *at + 1, end), n = word_length(p, name, end);
        if (!n || n > EXPR_MAX_NAME || r->arity == LANG_MAX_ARITY)
            return fail_head(p, name);
        const char *text = r->arguments[r->arity] = copy(p, name, name + n);
        if (lang_is_constant(text) || lang_find(p->lang, text, n) >= 0 ||
            (r->arity && strcmp(text, r->arguments[0]) == 0))
            return err_fail_at(p->e, &p->source, name, "'%s' cannot name an argument here", text);
        r->arity++;
        *at = skip_spaces(p, name + n, end);
    } while (is_at(p, *at, end, ','));
    if (!is_at(p, *at, end, ')'))
        return fail_head(p, *at);
    ++*at;
    return OK;
}

static enum err_code read_head(struct parser *p, struct reading *r, const struct statement *s)
{
    size_t at = r->begin = skip_spaces(p, s->at, s->end), n = word_length(p, at, s->end);
    if (!n || n > EXPR_MAX_NAME)
        return fail_head(p, at);
    r->name = copy(p, at, at + n);
    at = skip_spaces(p, at + n, s->end);
    if (is_at(p, at, s->end, '(')) {
        enum err_code code = read_arguments(p, r, &at, s->end);
        if (code)
            return err_up(p->e, code);
    } else {
        size_t digit = skip_spaces(p, at + 1, s->end);
        if (!is_at(p, at, s->end, '/') || digit >= s->end || !is_digit(p->source.text[digit]))
            return fail_head(p, at);
        r->arity = (unsigned)(p->source.text[digit] - '0');
        at = digit + 1;
        for (unsigned i = 0; i < LANG_MAX_ARITY; i++)
            r->arguments[i] = own_argument(i);
        if (r->arity > LANG_MAX_ARITY)
            return fail_head(p, digit);
    }
    at = skip_spaces(p, at, s->end);
    r->end = s->end;
    if (at == s->end)
        return OK;
    if (!is_at(p, at, s->end, '=') || skip_spaces(p, at + 1, s->end) == s->end)
        return err_fail_at(p->e, &p->source, at,
                           "expected '= arb FUNCTION', '= TERM' or the end of the line");
    r->value = skip_spaces(p, at + 1, s->end);
    return OK;
}

static enum err_code declare(struct parser *p, const struct statement *s)
{
    struct reading *r = &p->all[p->n_all++];
    const struct language *more;
    enum err_code code = read_head(p, r, s);
    if (code)
        return err_up(p->e, code);
    if (p->n_all > OWN_MAX)
        return err_fail_at(p->e, &p->source, r->begin, "more than %d operators", OWN_MAX);
    if (r->value && !lang_is(p->lang, &lang_calculus))
        return err_fail_at(p->e, &p->source, r->value,
                           "only operators of the calculus have a meaning of their own");
    int known = lang_find(p->lang, r->name, strlen(r->name));
    bool ours =
        known >= 0 && p->lang->ops[known].token && strcmp(p->lang->ops[known].name, r->name) == 0;
    for (size_t i = 0; i + 1 < p->n_all; i++)
        if (ours && p->all[i].op == known)
            return err_fail_at(p->e, &p->source, r->begin, "'%s' is declared twice", r->name);
    if (!ours) {
        if ((code = lang_declare(&more, p->a, p->lang, r->name, r->arity, p->e))) {
            err_locate(p->e, &p->source, r->begin);
            return err_up(p->e, code);
        }
        known = p->lang->n_ops;
        *p->lang = *more;
    }
    r->op = (uint16_t)known;
    p->ops = (struct op_info *)p->lang->ops; /* allocated above, or not written */
    return OK;
}

/* ---- terms ---- */

/* Parses a term over the arguments, which become x and y. */
static enum err_code read_term(struct expr *out, struct parser *p, const struct reading *r,
                               size_t at, size_t end)
{
    const struct language *lang = p->lang;
    for (unsigned k = 0; k < r->arity; k++)
        lang_declare_name(&lang, p->a, lang, r->arguments[k]);
    if (expr_parse_infix(out, p->a, lang, &p->source, at, end - at, false, p->e))
        return err_up(p->e, ERR_INPUT);
    out->lang = p->lang;
    if (out->n > OWN_MAX_NODES)
        return err_fail_at(p->e, &p->source, at, "the term has more than %d nodes", OWN_MAX_NODES);
    struct expr_node *nodes = arena_memdup(p->a, out->nodes, out->n * sizeof *nodes);
    for (uint32_t i = 0; i < out->n; i++) {
        struct expr_node *x = &nodes[i];
        unsigned k = 0;
        if (x->op == X_D)
            return err_fail_at(p->e, &p->source, at, "this term cannot contain derivatives");
        if (x->op != X_SYM || lang_is_constant(x->leaf))
            continue;
        while (k < r->arity && strcmp(x->leaf, r->arguments[k]) != 0)
            k++;
        if (k == r->arity)
            return err_fail_at(p->e, &p->source, at, "'%.60s' is not an argument of %s", x->leaf,
                               r->name);
        x->leaf = own_argument(k);
    }
    out->nodes = nodes;
    return OK;
}

static enum err_code read_function(struct parser *p, struct reading *r, size_t at)
{
    size_t n = word_length(p, at, r->end);
    const char *name = copy(p, at, at + n);
    r->own.function = ball_function_find(name, r->arity);
    if (r->own.function && at + n == r->end)
        return OK;
    enum err_code code =
        err_fail_at(p->e, &p->source, at, "Arb has no function '%.60s' of %u argument%s here", name,
                    r->arity, r->arity == 1 ? "" : "s");
    const char **names = arena_array(p->a, const char *, BALL_MAX_FUNCTIONS);
    return err_suggest(code, name, names, ball_function_names(names, r->arity), p->e);
}

static enum err_code read_value(struct parser *p, struct reading *r)
{
    size_t n = word_length(p, r->value, r->end);
    size_t behind = skip_spaces(p, r->value + n, r->end);
    if (n == 3 && !memcmp(p->source.text + r->value, "arb", 3) && behind > r->value + n)
        return err_up(p->e, read_function(p, r, behind));
    return err_up(p->e, read_term(&r->own.value, p, r, r->value, r->end));
}

/* Parses [ARGUMENT] ':' after the keyword; *at becomes the position after it. */
static enum err_code read_colon(unsigned *argument, struct parser *p, const struct reading *r,
                                const struct statement *s, size_t *at)
{
    size_t name = skip_spaces(p, s->at, s->end), n = word_length(p, name, s->end);
    bool named = n > 0;
    *argument = 0;
    while (named && *argument < r->arity &&
           (strlen(r->arguments[*argument]) != n ||
            memcmp(r->arguments[*argument], p->source.text + name, n) != 0))
        ++*argument;
    size_t colon = skip_spaces(p, name + n, s->end);
    *at = skip_spaces(p, colon + 1, s->end);
    bool which = named ? *argument < r->arity : r->arity == 1 || s->part != DERIVATIVE;
    if (is_at(p, colon, s->end, ':') && *at < s->end && which && (!named || s->part == DERIVATIVE))
        return OK;
    return err_fail_at(p->e, &p->source, name,
                       s->part == DERIVATIVE ? "expected 'derivative: TERM', with two arguments "
                                               "'derivative x: TERM'"
                                             : "expected ':' and text after it");
}

static enum err_code read_derivative(struct parser *p, struct reading *r, const struct statement *s)
{
    unsigned k;
    size_t at;
    enum err_code code = read_colon(&k, p, r, s, &at);
    if (code)
        return err_up(p->e, code);
    if (!r->own.function)
        return err_fail_at(p->e, &p->source, at,
                           r->own.value.n ? "the derivative of %s follows from its definition"
                                          : "%s has no value, so it has no derivative",
                           r->name);
    if (r->own.derivative[k].n)
        return err_fail_at(p->e, &p->source, at, "this derivative is given twice");
    r->derivative[k] = at;
    return err_up(p->e, read_term(&r->own.derivative[k], p, r, at, s->end));
}

static enum err_code enter_domain(struct parser *p, struct reading *r, struct ball_domain d,
                                  size_t at)
{
    unsigned k = 0;
    while (k < r->arity && strcmp(d.name, r->arguments[k]) != 0)
        k++;
    if (k == r->arity || r->own.domain[k].name)
        return err_fail_at(p->e, &p->source, at,
                           k == r->arity ? "'%s' is not an argument of %s"
                                         : "'%s' already has a domain",
                           d.name, r->name);
    d.name = own_argument(k);
    r->own.domain[k] = d;
    return OK;
}

static enum err_code enter_values(struct parser *p, struct reading *r, struct ball_domain d,
                                  size_t at)
{
    if (strcmp(d.name, r->name) != 0 || r->own.n_values == OWN_MAX_VALUES)
        return err_fail_at(p->e, &p->source, at,
                           "expected at most %d statements about %s, as in: 0<=%s<1, %s:real",
                           OWN_MAX_VALUES, r->name, r->name, r->name);
    r->values[r->own.n_values] = at;
    r->own.values[r->own.n_values++] = d;
    return OK;
}

/* "x:real, 0<y<1" with the name replaced by x or y, or "-1<erf<1, erf:nonzero". */
static enum err_code read_domains(struct parser *p, struct reading *r, const struct statement *s)
{
    unsigned k;
    size_t at, comma;
    enum err_code code = read_colon(&k, p, r, s, &at);
    for (; !code && at < s->end; at = skip_spaces(p, comma + 1, s->end)) {
        struct ball_domain d;
        for (comma = at; comma < s->end && !is_at(p, comma, s->end, ',');)
            comma++;
        if ((code = domain_parse(&d, p->a, copy(p, at, trim(p, at, comma)), p->e)))
            err_locate(p->e, &p->source, at);
        else
            code = s->part == DOMAIN ? enter_domain(p, r, d, at) : enter_values(p, r, d, at);
    }
    return err_up(p->e, code);
}

/* Accepts only LaTeX that also converts to MathML. */
static enum err_code read_latex(struct parser *p, struct reading *r, const struct statement *s)
{
    unsigned k;
    size_t at;
    enum err_code code = read_colon(&k, p, r, s, &at);
    if (code)
        return err_up(p->e, code);
    const struct op_info op = {.latex = copy(p, at, s->end), .arity = (uint8_t)r->arity};
    if (r->latex || !own_is_latex(&op))
        return err_fail_at(p->e, &p->source, at,
                           "expected one name in LaTeX, as \\operatorname{erf}, \\Gamma or J");
    r->latex = op.latex;
    return OK;
}

/* "sgn, signum" */
static enum err_code read_also(struct parser *p, struct reading *r, const struct statement *s)
{
    unsigned k;
    size_t at;
    enum err_code code = read_colon(&k, p, r, s, &at);
    for (size_t n; !code && at < s->end; at = skip_spaces(p, at + n, s->end)) {
        at = skip_spaces(p, at + (r->also && is_at(p, at, s->end, ',')), s->end);
        if (!(n = word_length(p, at, s->end)) || n > EXPR_MAX_NAME)
            return err_fail_at(p->e, &p->source, at, "expected names, as in: also: sgn, signum");
        const char *name = copy(p, at, at + n);
        r->also = r->also ? arena_printf(p->a, "%s %s", r->also, name) : name;
    }
    return err_up(p->e, code);
}

static enum err_code read_part(struct parser *p, const struct statement *s)
{
    struct reading *r = p->n_all ? &p->all[p->n_all - 1] : NULL;
    if (s->part == OPERATOR) {
        r = &p->all[p->n_all++];
        return r->value ? err_up(p->e, read_value(p, r)) : OK;
    }
    if (!r || !s->indented || s->part == UNKNOWN) {
        size_t n = word_length(p, s->at, s->end);
        enum err_code code = err_fail_at(
            p->e, &p->source, s->at,
            "expected 'operator NAME(x) = TERM', or below one, indented: 'derivative:', "
            "'domain:', 'values:', 'latex:' or 'also:'");
        return err_suggest(code, copy(p, s->at, s->at + n), keywords, UNKNOWN, p->e);
    }
    switch (s->part) {
    case DERIVATIVE: return err_up(p->e, read_derivative(p, r, s));
    case LATEX: return err_up(p->e, read_latex(p, r, s));
    case ALSO: return err_up(p->e, read_also(p, r, s));
    case DOMAIN:
    case VALUES: return err_up(p->e, read_domains(p, r, s));
    case OPERATOR:
    case UNKNOWN: break;
    }
    return OK;
}

/* ---- checks ---- */

/* Fails if definitions are nested more than `depth` deep, so also if they are recursive. */
static enum err_code check_depth(struct parser *p, const struct reading *r, unsigned depth,
                                 size_t *steps)
{
    if (depth > OWN_MAX_DEPTH || ++*steps > EXPR_MAX_NODES)
        return err_fail_at(p->e, &p->source, r->begin,
                           "definitions are recursive or nested more than %d deep", OWN_MAX_DEPTH);
    for (uint32_t i = 0; i < r->own.value.n; i++)
        for (size_t k = 0; k < p->n_all; k++)
            if (p->all[k].op == r->own.value.nodes[i].op &&
                check_depth(p, &p->all[k], depth + 1, steps))
                return err_up(p->e, ERR_INPUT);
    return OK;
}

/* Adds the operator to the table, or checks that it exists with the same meaning. */
static enum err_code enter(struct parser *p, struct reading *r, unsigned n_before)
{
    size_t steps = 0;
    enum err_code code = check_depth(p, r, 0, &steps);
    if (code)
        return err_up(p->e, code);
    r->own.text = own_statement(p->a, r->name, r->arity, &r->own, r->latex);
    if (r->op < n_before) {
        const struct op_info *there = &p->lang->ops[r->op];
        bool same =
            there->own ? strcmp(there->own->text, r->own.text) == 0 : !r->value && !r->own.n_values;
        if (same && there->arity == r->arity)
            return OK;
        return err_fail_at(p->e, &p->source, r->begin,
                           "operator '%s' has another meaning elsewhere", r->name);
    }
    p->ops[r->op].interpreted = r->own.function || r->own.value.n;
    p->ops[r->op].own = &r->own;
    p->ops[r->op].also = r->also;
    if (r->latex)
        p->ops[r->op].latex = r->latex;
    return OK;
}

static enum err_code read_all(struct parser *p, unsigned n_before)
{
    enum err_code code = OK;
    for (size_t i = 0; i < p->n && !code; i++)
        if (p->statements[i].part == OPERATOR)
            code = declare(p, &p->statements[i]);
    p->n_all = 0;
    for (size_t i = 0; i < p->n && !code; i++)
        code = read_part(p, &p->statements[i]);
    for (size_t i = 0; i < p->n_all && !code; i++)
        code = enter(p, &p->all[i], n_before);
    for (size_t i = 0; i < p->n_all && p->check && !code; i++)
        code = own_check(p->lang, p->a, p->all[i].op, &p->source, p->all[i].derivative,
                         p->all[i].values, p->e);
    return err_up(p->e, code);
}

enum err_code own_parse(const struct language **lang, struct arena *a,
                        const struct source_text *source, bool check, struct err *e)
{
    if (source->len > OWN_MAX_FILE)
        return err_fail(e, ERR_INPUT, "%s: a file of operators has at most %d bytes", source->name,
                        OWN_MAX_FILE);
    enum err_code code = utf8_check(source, e);
    if (code)
        return err_up(e, code);
    struct parser p = {
        .a = a, .source = *source, .lang = arena_new(a, struct language), .check = check, .e = e};
    *p.lang = **lang;
    p.source.text = lexical_without_comments(a, source);
    find_statements(&p);
    p.all = arena_array(a, struct reading, p.n);
    if ((code = read_all(&p, (*lang)->n_ops)))
        file_kind_hint(code, FILE_OPERATORS, source, e);
    else if (p.lang->n_ops > (*lang)->n_ops)
        *lang = p.lang;
    free(p.statements);
    return err_up(e, code);
}
