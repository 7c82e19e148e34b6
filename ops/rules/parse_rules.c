/* The rule file format (docs/rules.md), one statement a line:
 *
 *     # a comment
 *     language boolean
 *     operator i/2
 *     group trigonometry.pythagorean [off]
 *     sin2-cos2: sin(?a)^2 + cos(?a)^2 -> 1
 *     ln-mul:    ln(?a*?b) <-> ln(?a) + ln(?b)   if positive(?a), positive(?b)
 *
 * Terms are infix expressions with pattern variables. Comments are blanked in a copy of the text,
 * so offsets are those of the file. */
#include "ops/rules/parse_rules.h"
#include "base/text/file_kind.h"
#include "base/text/utf8.h"
#include "engine/op.h"
#include "ops/expr/equality/exact.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/rules/parse_condition.h"

#include <stdlib.h>
#include <string.h>

enum kind { RULE, GROUP, OPERATOR, LANGUAGE, UNKNOWN };
static const char *const keywords[] = {
    [GROUP] = "group", [OPERATOR] = "operator", [LANGUAGE] = "language"};

struct statement {
    enum kind kind;
    size_t at, end; /* `at` is the name of a rule, else the text after the keyword */
    int line, column;
};

struct parser {
    struct arena *a;
    struct rules *rules;
    struct source_text source;       /* without comments */
    const struct language *language; /* named by the file; NULL: none */
    const char *group;
    bool off;
    struct name_map names; /* "group/name" of every rule so far -> its index */
    struct statement *statements;
    size_t n, cap;
    struct latex_reader *latex; /* allocated for the first LaTeX term */
};

static bool is_name_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
}

static size_t skip_spaces(const char *text, size_t at, size_t end)
{
    while (at < end && is_space(text[at]))
        at++;
    return at;
}

/* Length of the name at `at`: letters, digits, '_', '-' and '.', not beginning with '-' or '.'. */
static size_t name_length(const char *text, size_t at, size_t end)
{
    size_t n = 0;
    if (at == end || text[at] == '-' || text[at] == '.')
        return 0;
    while (at + n < end && is_name_char(text[at + n]))
        n++;
    return n;
}

/* Whether the word at `at` is `word`, followed by a blank or the end. */
static bool is_word(const char *text, size_t at, size_t end, const char *word)
{
    size_t n = strlen(word);
    return end - at >= n && memcmp(text + at, word, n) == 0 &&
           (at + n == end || is_space(text[at + n]));
}

/* Returns the kind that the keyword names; advances *at past it. */
static enum kind kind_of(const char *text, size_t *at, size_t end)
{
    for (enum kind k = GROUP; k <= LANGUAGE; k++)
        if (is_word(text, *at, end, keywords[k])) {
            *at += strlen(keywords[k]);
            return k;
        }
    size_t n = name_length(text, *at, end);
    size_t colon = skip_spaces(text, *at + n, end);
    return n && colon < end && text[colon] == ':' ? RULE : UNKNOWN;
}

/* Splits the text into statements. A line that begins with blanks and is not a statement by itself
 * continues the previous one. */
static void find_statements(struct parser *p)
{
    const struct source_text *s = &p->source;
    struct statement *open = NULL;
    int line = 1;
    for (size_t at = 0; at < s->len; line++) {
        const char *newline = memchr(s->text + at, '\n', s->len - at);
        size_t end = newline ? (size_t)(newline - s->text) : s->len;
        size_t first = skip_spaces(s->text, at, end), body = first;
        enum kind kind = kind_of(s->text, &body, end);
        if (first == end) {
            open = NULL;
        } else if (open && first > at && kind == UNKNOWN) {
            open->end = end;
        } else {
            p->statements = vec_grow(p->statements, &p->cap, p->n + 1, sizeof *p->statements);
            open = &p->statements[p->n++];
            *open = (struct statement){kind, body, end, line, (int)(first - at) + 1};
        }
        at = newline ? end + 1 : end;
    }
}

static enum err_code parse_operator(struct parser *p, const struct statement *s, struct err *e)
{
    const char *text = p->source.text;
    size_t end = s->end, at = skip_spaces(text, s->at, end);
    size_t n = identifier_length(text + at, text + end);
    size_t slash = skip_spaces(text, at + n, end);
    size_t digit = slash < end ? skip_spaces(text, slash + 1, end) : end;
    if (!n || n > RULES_MAX_NAME || slash == end || text[slash] != '/' || digit == end ||
        !is_digit(text[digit]) || skip_spaces(text, digit + 1, end) != end)
        return err_fail_at(
            e, &p->source, at,
            "expected 'operator NAME/ARITY', the arity 0, 1 or 2, as in: operator i/2");
    char *name = arena_strndup(p->a, text + at, n);
    unsigned arity = (unsigned)(text[digit] - '0');
    int op = lang_find(p->rules->lang, name, n);
    if (op >= 0 && p->rules->lang->ops[op].shipped) {
        enum err_code code = err_fail_at(e, &p->source, at,
                                         "operator '%s' comes with eqloom and has a meaning", name);
        err_hint(e, "remove this line, or give your operator another name");
        return code;
    }
    if (op >= 0 && p->rules->lang->ops[op].token && p->rules->lang->ops[op].arity == arity)
        return OK; /* the same declaration in another file */
    enum err_code code = lang_declare(&p->rules->lang, p->a, p->rules->lang, name, arity, e);
    if (code)
        err_locate(e, &p->source, at);
    return err_up(e, code);
}

static enum err_code parse_language(struct parser *p, const struct statement *s, struct err *e)
{
    const char *text = p->source.text;
    size_t end = s->end, at = skip_spaces(text, s->at, end);
    size_t n = name_length(text, at, end);
    if (!n || n > RULES_MAX_NAME || skip_spaces(text, at + n, end) != end)
        return err_fail_at(e, &p->source, at, "expected the name of a language");
    const char *name = arena_strndup(p->a, text + at, n);
    if (p->language)
        return err_fail_at(e, &p->source, at, "a file can name only one language");
    enum err_code code = lang_named(&p->language, name, e);
    if (code)
        err_locate(e, &p->source, at);
    return err_up(e, code);
}

/* All rules of a set have one language, which the first file determines. */
static enum err_code join_language(struct parser *p, struct err *e)
{
    const struct language *mine = p->language ? p->language : &lang_calculus;
    if (p->rules->n == 0 && !lang_is(p->rules->lang, mine))
        p->rules->lang = mine;
    if (!lang_is(p->rules->lang, mine))
        return err_fail(e, ERR_INPUT,
                        "%s: its rules are of the %s language, those of the other files of the %s "
                        "language",
                        p->source.name, mine->name, p->rules->lang->name);
    return OK;
}

static enum err_code parse_group(struct parser *p, const struct statement *s, struct err *e)
{
    const char *text = p->source.text;
    size_t end = s->end, at = skip_spaces(text, s->at, end);
    size_t n = name_length(text, at, end);
    if (!n || n > RULES_MAX_NAME)
        return err_fail_at(e, &p->source, at,
                           "expected the name of a group (at most %d of letters,"
                           " digits, '_', '-' and '.')",
                           RULES_MAX_NAME);
    p->group = arena_strndup(p->a, text + at, n);
    at = skip_spaces(text, at + n, end);
    p->off = is_word(text, at, end, "off");
    at = skip_spaces(text, p->off ? at + 3 : at, end);
    if (at != end)
        return err_fail_at(e, &p->source, at, "expected 'off' or the end of the line");
    return OK;
}

/* Position of the arrow between the sides, or `end`; *length is 2 for ->, 3 for <->. */
static size_t find_arrow(size_t *length, const char *text, size_t at, size_t end)
{
    for (; at + 1 < end; at++) {
        *length = text[at] == '<' ? 3 : 2;
        if (end - at >= *length && memcmp(text + at, *length == 3 ? "<->" : "->", *length) == 0)
            return at;
    }
    return end;
}

static size_t find_if(const char *text, size_t at, size_t end)
{
    for (size_t i = at; i < end; i++) {
        bool starts = i == at || is_space(text[i - 1]) || text[i - 1] == ')';
        if (starts && end - i >= 2 && memcmp(text + i, "if", 2) == 0 &&
            identifier_length(text + i, text + end) == 2)
            return i;
    }
    return end;
}

/* Whether a function of the rule is missing, or is a user's: rules for the operators that come with
 * eqloom are read only where their names have this meaning. */
static bool lacks_shipped(const struct parser *p, size_t at, size_t end)
{
    const char *text = p->source.text;
    const struct language *lang = p->rules->lang;
    if (strncmp(p->source.name, OP_BUILTIN "operators/", strlen(OP_BUILTIN "operators/")) != 0)
        return false;
    for (size_t n; at < end; at += n ? n : 1) {
        n = identifier_length(text + at, text + end);
        int op = n && at + n < end && text[at + n] == '(' ? lang_find(lang, text + at, n) : X_ADD;
        if (op < 0 || (op >= X_DECLARED && !lang->ops[op].shipped))
            return true;
    }
    return false;
}

/* NAME: LHS -> RHS [if CONDITIONS] */
static enum err_code parse_rule(struct parser *p, const struct statement *s, struct err *e)
{
    const char *text = p->source.text;
    const struct language *lang = p->rules->lang;
    enum err_code code;
    size_t n = name_length(text, s->at, s->end);
    if (n > RULES_MAX_NAME)
        return err_fail_at(e, &p->source, s->at, "a rule's name has at most %d characters",
                           RULES_MAX_NAME);
    size_t left = skip_spaces(text, s->at + n, s->end) + 1;
    size_t length, arrow = find_arrow(&length, text, left, s->end);
    if (arrow == s->end)
        return err_fail_at(e, &p->source, s->end, "expected '->' or '<->' between two terms");
    size_t right = arrow + length, if_at = find_if(text, right, s->end);
    if (lacks_shipped(p, left, if_at))
        return OK;
    bool both_ways = length == 3;
    struct rule r = {
        .group = p->group,
        .name = arena_strndup(p->a, text + s->at, n),
        .file = p->source.name,
        .line = s->line,
        .column = s->column,
        .off = p->off,
    };
    struct pattern_reader reader = {p->a, lang, &p->source, NULL, &p->latex};
    if ((code = pattern_parse(&r.lhs, &reader, left, arrow, e)))
        return err_up(e, code);
    reader.lhs = &r.lhs;
    if ((code = pattern_parse(&r.rhs, &reader, right, if_at, e)))
        return err_up(e, code);
    if (both_ways && (code = pattern_check_bound(&r.lhs, &r.rhs, &p->source, left, arrow,
                                                 "?%s does not occur on the right side, so the "
                                                 "rule has no reverse; write -> instead of <->",
                                                 e)))
        return err_up(e, code);
    if (if_at < s->end && exact_applies(lang))
        return err_fail_at(e, &p->source, if_at, "rules of the %s language have no conditions",
                           lang->name);
    if (if_at < s->end &&
        (code = conditions_parse(&r.conditions, &r.n_conditions, &reader, if_at + 2, s->end, e)))
        return err_up(e, code);
    return err_up(e, rules_append(p->rules, p->a, &p->names, &r, both_ways, &p->source, s->at, e));
}

static enum err_code fail_statement(struct parser *p, const struct statement *s, struct err *e)
{
    const char *text = p->source.text;
    size_t n = identifier_length(text + s->at, text + s->end);
    enum err_code code =
        err_fail_at(e, &p->source, s->at,
                    "expected 'NAME: TERM -> TERM', 'group NAME' or 'operator NAME/ARITY'");
    if (n && n < RULES_MAX_NAME) {
        const char *word = arena_strndup(p->a, text + s->at, n);
        return err_suggest(code, word, keywords + GROUP, LANGUAGE - GROUP + 1, e);
    }
    return code;
}

static enum err_code parse_statement(struct parser *p, const struct statement *s, struct err *e)
{
    switch (s->kind) {
    case RULE: return err_up(e, parse_rule(p, s, e));
    case GROUP: return err_up(e, parse_group(p, s, e));
    case OPERATOR: return err_up(e, parse_operator(p, s, e));
    case LANGUAGE: return err_up(e, parse_language(p, s, e));
    case UNKNOWN: break;
    }
    return err_up(e, fail_statement(p, s, e));
}

static enum err_code parse_statements(struct parser *p, unsigned kinds, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; !code && i < p->n; i++)
        if (kinds >> p->statements[i].kind & 1)
            code = parse_statement(p, &p->statements[i], e);
    return err_up(e, code);
}

static struct parser parser_of(struct arena *a, struct rules *rules,
                               const struct source_text *source)
{
    struct parser p = {.a = a, .rules = rules, .source = *source, .group = "main"};
    p.source.text = lexical_without_comments(a, source);
    find_statements(&p);
    return p;
}

const struct language *rules_language(struct arena *a, const struct source_text *source)
{
    if (egg_is(source))
        return &lang_calculus;
    struct parser p = parser_of(a, NULL, source);
    enum err_code code = parse_statements(&p, 1u << LANGUAGE, NULL);
    free(p.statements);
    return code ? NULL : p.language ? p.language : &lang_calculus;
}

enum err_code rules_parse(struct rules *rules, struct arena *a, const struct source_text *source,
                          struct err *e)
{
    if (source->len > RULES_MAX_FILE)
        return err_fail(e, ERR_INPUT, "%s: a rule file has at most %d bytes", source->name,
                        RULES_MAX_FILE);
    enum err_code code = utf8_check(source, e);
    if (code)
        return err_up(e, code);
    struct rules before = *rules;
    struct parser p = parser_of(a, rules, source);
    for (size_t i = 0; i < rules->n; i++)
        name_map_put(&p.names,
                     arena_printf(a, "%s/%s", rules->rules[i].group, rules->rules[i].name), i,
                     NULL);
    /* Declarations may be anywhere in the file. */
    if (egg_is(source)) {
        if ((code = egg_parse(rules, a, &p.names, source, e)))
            *rules = before;
    } else if ((code = parse_statements(&p, 1u << LANGUAGE, e)) || (code = join_language(&p, e)) ||
               (code = parse_statements(&p, 1u << OPERATOR, e)) ||
               (code = parse_statements(&p, 1u << RULE | 1u << GROUP | 1u << UNKNOWN, e)))
        *rules = before;
    if (code)
        file_kind_hint(code, FILE_RULES, source, e);
    name_map_free(&p.names);
    latex_reader_free(p.latex);
    free(p.statements);
    return err_up(e, code);
}
