/* The rule file format (docs/rules.md), one statement a line:
 *
 *     # a comment
 *     language boolean
 *     operator i/2
 *     group trigonometry.pythagorean [off]
 *     sin2-cos2: sin(?a)^2 + cos(?a)^2 -> 1
 *     ln-mul:    ln(?a*?b) <-> ln(?a) + ln(?b)   if positive(?a), positive(?b)
 *
 * A line that begins with blanks and is no statement by itself continues the one before. Terms are
 * infix expressions with pattern variables. Comments are blanked in a copy of the text, so that
 * offsets stay those of the file. */
#include "base/map.h"
#include "ops/expr/exact.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/rules/condition.h"

#include <string.h>

struct parser {
    struct arena *a;
    struct rules *rules;
    struct source_text source;       /* without comments */
    const struct language *language; /* that the file names; NULL: none */
    const char *group;
    bool off;
    struct name_map names; /* "group/name" of every rule so far -> its index */
};

struct statement {
    size_t at, end;
    int line, column; /* of its beginning */
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

/* Whether a statement begins here, rather than the continuation of one. */
static bool begins_statement(const char *text, size_t at, size_t end)
{
    if (is_word(text, at, end, "group") || is_word(text, at, end, "operator") ||
        is_word(text, at, end, "language"))
        return true;
    size_t n = name_length(text, at, end);
    size_t colon = skip_spaces(text, at + n, end);
    return n && colon < end && text[colon] == ':';
}

/* The next statement from *at on, which moves behind it; false at the end of the file. */
static bool next_statement(struct statement *out, const struct source_text *s, size_t *at,
                           int *line)
{
    *out = (struct statement){0};
    while (*at < s->len) {
        const char *newline = memchr(s->text + *at, '\n', s->len - *at);
        size_t end = newline ? (size_t)(newline - s->text) : s->len;
        size_t first = skip_spaces(s->text, *at, end);
        bool blank = first == end;
        if (out->line) {
            bool continues = !blank && first > *at && !begins_statement(s->text, first, end);
            if (!continues)
                return true;
            out->end = end;
        } else if (!blank) {
            *out = (struct statement){first, end, *line, (int)(first - *at) + 1};
        }
        *at = newline ? end + 1 : end;
        ++*line;
    }
    return out->line != 0;
}

static enum err_code parse_operator(struct parser *p, size_t at, size_t end, struct err *e)
{
    const char *text = p->source.text;
    at = skip_spaces(text, at, end);
    size_t n = identifier_length(text + at, text + end);
    size_t slash = skip_spaces(text, at + n, end);
    size_t digit = slash < end ? skip_spaces(text, slash + 1, end) : end;
    if (!n || n > RULES_MAX_NAME || slash == end || text[slash] != '/' || digit == end ||
        !is_digit(text[digit]) || skip_spaces(text, digit + 1, end) != end)
        return err_fail_at(
            e, &p->source, at,
            "expected 'operator NAME/ARITY', the arity a digit, as in: operator i/2");
    char *name = arena_strndup(p->a, text + at, n);
    unsigned arity = (unsigned)(text[digit] - '0');
    int known = lang_find(p->rules->lang, name, n);
    if (known >= X_DECLARED && p->rules->lang->ops[known].arity == arity &&
        !p->rules->lang->ops[known].interpreted)
        return OK; /* the same declaration in another file */
    enum err_code code = lang_declare(&p->rules->lang, p->a, p->rules->lang, name, arity, e);
    if (code)
        err_locate(e, &p->source, at);
    return err_up(e, code);
}

/* The language of the file; that of the set, unless the set is empty. */
static enum err_code parse_language(struct parser *p, size_t at, size_t end, struct err *e)
{
    const char *text = p->source.text;
    at = skip_spaces(text, at, end);
    size_t n = name_length(text, at, end);
    if (!n || n > RULES_MAX_NAME || skip_spaces(text, at + n, end) != end)
        return err_fail_at(e, &p->source, at, "expected the name of a language");
    const char *name = arena_strndup(p->a, text + at, n);
    if (p->language)
        return err_fail_at(e, &p->source, at, "a file has one language");
    p->language = lang_by_name(name);
    if (p->language)
        return OK;
    err_fail_at(e, &p->source, at, "unknown language '%s'", name);
    if (lang_nearest(name))
        err_hint(e, "did you mean '%s'?", lang_nearest(name));
    return ERR_INPUT;
}

/* Rules of different languages make no set. */
static enum err_code join_language(struct parser *p, struct err *e)
{
    const struct language *mine = p->language ? p->language : &lang_calculus;
    if (p->rules->n == 0 && !lang_is(p->rules->lang, mine))
        p->rules->lang = mine;
    if (!lang_is(p->rules->lang, mine))
        return err_fail(e, ERR_INPUT,
                        "%s: rules of the %s language cannot stand beside those of the %s language",
                        p->source.name, mine->name, p->rules->lang->name);
    return OK;
}

static enum err_code parse_group(struct parser *p, size_t at, size_t end, struct err *e)
{
    const char *text = p->source.text;
    at = skip_spaces(text, at, end);
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

/* The arrow between the sides: its place, `end` if there is none; *length 2 for ->, 3 for <->. */
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

static enum err_code parse_side(struct expr *out, struct parser *p, size_t at, size_t end,
                                struct err *e)
{
    if (err_up(e, expr_parse_infix(out, p->a, p->rules->lang, &p->source, at, end - at, true, e)))
        return ERR_INPUT;
    if (out->n > RULES_MAX_NODES)
        return err_fail_at(e, &p->source, at, "a side of a rule has at most %d nodes",
                           RULES_MAX_NODES);
    return OK;
}

static enum err_code append(struct parser *p, const struct rule *r, size_t at, struct err *e)
{
    struct rules *s = p->rules;
    bool added;
    uint64_t *place =
        name_map_put(&p->names, arena_printf(p->a, "%s/%s", r->group, r->name), s->n, &added);
    if (!added) {
        const struct rule *first = &s->rules[*place];
        return err_fail_at(e, &p->source, at, "group %s has a rule '%s' already (%s:%d)", r->group,
                           r->name, first->file ? first->file : "a record", first->line);
    }
    if (s->n == RULES_MAX)
        return err_fail_at(e, &p->source, at, "more than %d rules", RULES_MAX);
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        struct rule *grown = arena_array(p->a, struct rule, cap);
        if (s->n)
            memcpy(grown, s->rules, s->n * sizeof *grown);
        s->rules = grown;
        s->cap = cap;
    }
    s->rules[s->n++] = *r;
    return OK;
}

/* NAME: LHS -> RHS [if CONDITIONS] */
bool rule_is_reverse(size_t *length, const char *name)
{
    size_t n = strlen(name);
    bool reverse = n && name[n - 1] == '~';
    *length = n - reverse;
    return reverse;
}

static enum err_code parse_rule(struct parser *p, const struct statement *s, struct err *e)
{
    const char *text = p->source.text;
    size_t n = name_length(text, s->at, s->end);
    if (n > RULES_MAX_NAME)
        return err_fail_at(e, &p->source, s->at, "a rule's name has at most %d characters",
                           RULES_MAX_NAME);
    size_t left = skip_spaces(text, s->at + n, s->end) + 1;
    size_t length, arrow = find_arrow(&length, text, left, s->end);
    if (arrow == s->end)
        return err_fail_at(e, &p->source, s->end, "expected '->' or '<->' between two terms");
    size_t right = arrow + length, if_at = find_if(text, right, s->end);

    struct rule r = {
        .group = p->group,
        .name = arena_strndup(p->a, text + s->at, n),
        .file = p->source.name,
        .line = s->line,
        .column = s->column,
        .off = p->off,
    };
    if (err_up(e, parse_side(&r.lhs, p, left, arrow, e)) ||
        err_up(e, parse_side(&r.rhs, p, right, if_at, e)) ||
        err_up(e, condition_check_bound(&r.rhs, &r.lhs, &p->source, right, if_at,
                                        "?%s does not occur on the left side", e)))
        return ERR_INPUT;
    bool both_ways = length == 3;
    if (both_ways &&
        err_up(e, condition_check_bound(&r.lhs, &r.rhs, &p->source, left, arrow,
                                        "?%s does not occur on the right side, so the rule has no "
                                        "reverse; write -> instead of <->",
                                        e)))
        return ERR_INPUT;
    if (if_at < s->end &&
        err_up(e, condition_parse_list(&r.conditions, &r.n_conditions, p->a, p->rules->lang,
                                       &p->source, if_at + 2, s->end, e)))
        return ERR_INPUT;
    if (r.n_conditions && exact_applies(p->rules->lang))
        return err_fail_at(e, &p->source, if_at, "rules of the %s language have no conditions",
                           p->rules->lang->name);
    for (size_t i = 0; i < r.n_conditions; i++)
        for (unsigned k = 0; k < r.conditions[i].n_args; k++)
            if (err_up(e, condition_check_bound(&r.conditions[i].args[k], &r.lhs, &p->source, if_at,
                                                s->end, "?%s does not occur on the left side", e)))
                return ERR_INPUT;
    if (err_up(e, append(p, &r, s->at, e)))
        return ERR_INPUT;
    if (!both_ways)
        return OK;
    struct rule reverse = r;
    reverse.name = arena_printf(p->a, "%s~", r.name);
    reverse.lhs = r.rhs;
    reverse.rhs = r.lhs;
    return err_up(e, append(p, &reverse, s->at, e));
}

static enum err_code fail_statement(struct parser *p, const struct statement *s, struct err *e)
{
    static const char *const keywords[] = {"group", "operator", "language"};
    const char *text = p->source.text;
    size_t n = identifier_length(text + s->at, text + s->end);
    err_fail_at(e, &p->source, s->at,
                "expected 'NAME: TERM -> TERM', 'group NAME' or 'operator NAME/ARITY'");
    if (n && n < RULES_MAX_NAME) {
        const char *nearest = err_nearest(arena_strndup(p->a, text + s->at, n), keywords, 3);
        if (nearest)
            err_hint(e, "did you mean '%s'?", nearest);
    }
    return ERR_INPUT;
}

/* What of a file is read in one go: languages, then operators, then rules. */
enum pass { LANGUAGE, OPERATORS, RULES };

static enum err_code parse_statements(struct parser *p, enum pass pass, struct err *e)
{
    const char *text = p->source.text;
    struct statement s;
    size_t at = 0;
    int line = 1;
    enum err_code code = OK;
    while (!code && next_statement(&s, &p->source, &at, &line)) {
        size_t n = name_length(text, s.at, s.end);
        bool is_rule =
            n && begins_statement(text, s.at, s.end) && !is_word(text, s.at, s.end, "group") &&
            !is_word(text, s.at, s.end, "operator") && !is_word(text, s.at, s.end, "language");
        bool is_language = !is_rule && is_word(text, s.at, s.end, "language");
        bool is_operator = !is_rule && is_word(text, s.at, s.end, "operator");
        if (pass == LANGUAGE)
            code = is_language ? parse_language(p, s.at + strlen("language"), s.end, e) : OK;
        else if (pass == OPERATORS)
            code = is_operator ? parse_operator(p, s.at + strlen("operator"), s.end, e) : OK;
        else if (is_rule)
            code = parse_rule(p, &s, e);
        else if (is_word(text, s.at, s.end, "group"))
            code = parse_group(p, s.at + strlen("group"), s.end, e);
        else if (!is_operator && !is_language)
            code = fail_statement(p, &s, e);
    }
    return err_up(e, code);
}

/* The text without comments and carriage returns, offsets unchanged. */
static char *blank_comments(struct arena *a, const struct source_text *source)
{
    char *text = arena_alloc(a, source->len + 1);
    bool comment = false;
    for (size_t i = 0; i < source->len; i++) {
        char c = source->text[i];
        comment = c == '#' || (comment && c != '\n');
        text[i] = comment || c == '\r' ? ' ' : c;
    }
    text[source->len] = '\0';
    return text;
}

const struct language *rules_language(struct arena *a, const struct source_text *source)
{
    struct parser p = {.a = a, .source = {source->name, blank_comments(a, source), source->len}};
    if (parse_statements(&p, LANGUAGE, NULL))
        return NULL;
    return p.language ? p.language : &lang_calculus;
}

enum err_code rules_parse(struct rules *rules, struct arena *a, const struct source_text *source,
                          struct err *e)
{
    if (source->len > RULES_MAX_FILE)
        return err_fail(e, ERR_INPUT, "%s: a rule file has at most %d bytes", source->name,
                        RULES_MAX_FILE);
    struct rules before = *rules;
    struct parser p = {
        .a = a,
        .rules = rules,
        .source = {source->name, blank_comments(a, source), source->len},
        .group = "main",
    };
    for (size_t i = 0; i < rules->n; i++)
        name_map_put(&p.names,
                     arena_printf(a, "%s/%s", rules->rules[i].group, rules->rules[i].name), i,
                     NULL);
    /* Declarations first: where in the file they stand means nothing. */
    enum err_code code = parse_statements(&p, LANGUAGE, e);
    if (!code)
        code = join_language(&p, e);
    if (!code)
        code = parse_statements(&p, OPERATORS, e);
    if (!code)
        code = parse_statements(&p, RULES, e);
    if (code)
        *rules = before;
    name_map_free(&p.names);
    return err_up(e, code);
}
