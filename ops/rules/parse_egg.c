/* Reads the rules of programs that use egg, such as E-Gen, from Rust source: macro calls of the
 * form
 *
 *     rw!("x/x=1"; "(/ ?x ?x)" => "1" if not_zero("?x")),        also rewrite!, and <=>
 *
 * outside comments and strings. Everything else is skipped. A rule's name is that in the macro,
 * with
 * '_' for each character that is not a letter or digit; its group is the name of the file. Guards
 * are recognized by their names in E-Gen and egg's own example. */
#include "ops/rules/parse_rules.h"

#include "base/io/unpack.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/rules/parse_condition.h"

#include <string.h>

struct egg {
    struct arena *a;
    struct rules *rules;
    const struct source_text *source;
    struct name_map *names;
    const char *group;
    size_t at;
    bool declares; /* first pass: collect operators only */
    int line;      /* line number at line_begin, which is not after the position */
    size_t line_begin;
};

static const struct {
    const char *name;
    enum rule_predicate predicate;
} guards[] = {
    {"not_zero", RULE_NONZERO},
    {"is_not_zero", RULE_NONZERO},
    {"is_const", RULE_CONSTANT},
    {"sym", RULE_SYMBOL},
    {"is_sym", RULE_SYMBOL},
    {"ge_zero", RULE_NONNEGATIVE},
    {"le_zero", RULE_NONPOSITIVE},
    {"gt_zero", RULE_POSITIVE},
    {"lt_zero", RULE_NEGATIVE},
    {"const_or_dist_var", RULE_CONSTANT_OR_OTHER_SYMBOL},
    {"is_const_or_distinct_var", RULE_CONSTANT_OR_OTHER_SYMBOL},
};
enum { GUARDS = sizeof guards / sizeof *guards };

static bool is_at(const struct egg *p, const char *what)
{
    size_t n = strlen(what);
    return p->source->len - p->at >= n && !memcmp(p->source->text + p->at, what, n);
}

static void skip_to(struct egg *p, const char *what)
{
    while (p->at < p->source->len && !is_at(p, what))
        p->at++;
}

/* Blanks and comments; those of several lines may be nested. */
static void skip_blanks(struct egg *p)
{
    for (;;) {
        unsigned depth = 0;
        while (p->at < p->source->len && is_space(p->source->text[p->at]))
            p->at++;
        if (is_at(p, "//"))
            skip_to(p, "\n");
        else if (is_at(p, "/*"))
            do {
                depth += is_at(p, "/*");
                depth -= is_at(p, "*/");
                p->at += is_at(p, "/*") || is_at(p, "*/") ? 2 : 1;
            } while (depth && p->at < p->source->len);
        else
            return;
    }
}

/* Skips to the end of a string whose opening quote is already consumed. */
static void skip_string(struct egg *p)
{
    while (p->at < p->source->len && p->source->text[p->at] != '"')
        p->at += p->source->text[p->at] == '\\' && p->at + 1 < p->source->len ? 2 : 1;
    p->at += p->at < p->source->len;
}

/* Skips r"...", r#"..."#. */
static bool skip_raw_string(struct egg *p)
{
    size_t hashes = 0, at = p->at + 1;
    while (at < p->source->len && p->source->text[at] == '#') {
        hashes++;
        at++;
    }
    if (at == p->source->len || p->source->text[at] != '"')
        return false;
    for (p->at = at + 1; p->at < p->source->len; p->at++) {
        size_t n = 0;
        if (p->source->text[p->at] != '"')
            continue;
        while (n < hashes && p->at + 1 + n < p->source->len &&
               p->source->text[p->at + 1 + n] == '#')
            n++;
        if (n == hashes) {
            p->at += 1 + n;
            break;
        }
    }
    return true;
}

static size_t word_length(const struct egg *p)
{
    return identifier_length(p->source->text + p->at, p->source->text + p->source->len);
}

static enum err_code expect(struct egg *p, const char *what, struct err *e)
{
    skip_blanks(p);
    if (!is_at(p, what))
        return err_fail_at(e, p->source, p->at,
                           "expected '%s' of rw!(\"name\"; \"left\" => \"right\" if guard(\"?x\"))",
                           what);
    p->at += strlen(what);
    return OK;
}

/* Parses "..." and returns the position of its text. */
static enum err_code string(size_t *at, size_t *len, struct egg *p, struct err *e)
{
    enum { MOST = 1 << 16 };
    enum err_code code = expect(p, "\"", e);
    if (code)
        return err_up(e, code);
    *at = p->at;
    skip_string(p);
    *len = p->at > *at ? p->at - *at - 1 : 0;
    if (p->source->text[p->at - 1] != '"' || *len > MOST)
        return err_fail_at(e, p->source, *at - 1, "this string is never closed");
    if (memchr(p->source->text + *at, '\\', *len))
        return err_fail_at(e, p->source, *at, "escape sequences are not supported here");
    return OK;
}

static enum err_code pattern(struct expr *out, struct egg *p, const struct expr *lhs, struct err *e)
{
    size_t at, len;
    struct pattern_reader reader = {p->a, p->rules->lang, p->source, lhs, NULL};
    enum err_code code = string(&at, &len, p, e);
    if (!code)
        code = expr_parse_sexpr(out, p->a, p->rules->lang, p->declares ? &p->rules->lang : NULL,
                                p->source, at, len, e);
    if (!code)
        code = pattern_check(out, &reader, at, at + len, e);
    return err_up(e, code);
}

/* Parses if NAME("?x") and if NAME("?x", "?y"). */
static enum err_code guard(struct rule_condition *out, struct egg *p, const struct expr *lhs,
                           struct err *e)
{
    skip_blanks(p);
    const char *names[GUARDS], *text = p->source->text + p->at;
    size_t n = word_length(p), g = 0;
    for (; g < GUARDS; g++) {
        names[g] = guards[g].name;
        if (lexical_is(text, n, names[g]))
            break;
    }
    if (g == GUARDS) {
        const char *word = arena_strndup(p->a, text, n < RULES_MAX_NAME ? n : RULES_MAX_NAME);
        enum err_code code = err_fail_at(e, p->source, p->at, "unknown guard '%s'", word);
        return err_suggest(code, word, names, GUARDS, e);
    }
    p->at += n;
    enum err_code code = expect(p, "(", e);
    unsigned arity = rule_predicate_arity(guards[g].predicate);
    *out = (struct rule_condition){.predicate = guards[g].predicate};
    for (unsigned i = 0; !code && i < arity; i++) {
        if (i)
            code = expect(p, ",", e);
        if (!code)
            code = pattern(&out->args[out->n_args++], p, lhs, e);
    }
    if (!code)
        code = expect(p, ")", e);
    return err_up(e, code);
}

static char *name_of(struct egg *p, const char *text, size_t n)
{
    char *name = arena_alloc(p->a, RULES_MAX_NAME + 1);
    size_t len = 0;
    for (size_t i = 0; i < n && len < RULES_MAX_NAME - 8; i++)
        if ((unsigned char)text[i] < 0x80 && (is_letter(text[i]) || is_digit(text[i])))
            name[len++] = text[i];
        else if (len && name[len - 1] != '_')
            name[len++] = '_';
    while (len && name[len - 1] == '_')
        len--;
    if (len == 0)
        name[len++] = 'r';
    name[len] = '\0';
    for (int k = 2; name_map_get(p->names, arena_printf(p->a, "%s/%s", p->group, name)); k++)
        name = arena_printf(p->a, "%.*s-%d", (int)len, name, k);
    return name;
}

/* Parses the arguments of the macro; its parenthesis is already consumed. */
static enum err_code rule(struct egg *p, size_t begin, char close, struct err *e)
{
    struct rule_condition *conditions =
        arena_array(p->a, struct rule_condition, RULES_MAX_CONDITIONS);
    struct rule r = {.group = p->group, .file = p->source->name, .conditions = conditions};
    size_t at, len, left;
    enum err_code code = string(&at, &len, p, e);
    if (!code)
        code = expect(p, ";", e);
    skip_blanks(p);
    left = p->at;
    if (!code)
        code = pattern(&r.lhs, p, NULL, e);
    if (code)
        return err_up(e, code);
    size_t left_end = p->at;
    skip_blanks(p);
    bool both_ways = is_at(p, "<");
    p->at += both_ways;
    if ((code = expect(p, "=>", e)) || (code = pattern(&r.rhs, p, &r.lhs, e)))
        return err_up(e, code);
    for (;;) {
        skip_blanks(p);
        if (word_length(p) != 2 || !is_at(p, "if"))
            break;
        p->at += 2;
        if (r.n_conditions == RULES_MAX_CONDITIONS)
            return err_fail_at(e, p->source, p->at, "a rule has at most %d conditions",
                               RULES_MAX_CONDITIONS);
        if ((code = guard(&conditions[r.n_conditions++], p, &r.lhs, e)))
            return err_up(e, code);
    }
    if (is_at(p, ","))
        p->at++;
    if ((code = expect(p, (char[]){close, '\0'}, e)))
        return err_up(e, code);
    if (both_ways && (code = pattern_check_bound(&r.lhs, &r.rhs, p->source, left, left_end,
                                                 "?%s does not occur on the right side of <=>", e)))
        return err_up(e, code);
    if (p->declares)
        return OK;
    conditions_sort(conditions, &r.n_conditions);
    for (const char *end;
         (end = memchr(p->source->text + p->line_begin, '\n', begin - p->line_begin)); p->line++)
        p->line_begin = (size_t)(end - p->source->text) + 1;
    r.line = p->line;
    r.column = (int)(begin - p->line_begin) + 1;
    r.name = name_of(p, p->source->text + at, len);
    return err_up(e, rules_append(p->rules, p->a, p->names, &r, both_ways, p->source, begin, e));
}

/* Reads all macros of the file. */
static enum err_code pass(struct egg *p, bool declares, struct err *e)
{
    const char *text = p->source->text;
    enum err_code code = OK;
    p->declares = declares;
    p->at = p->line_begin = 0;
    p->line = 1;
    while (!code) {
        skip_blanks(p);
        size_t begin = p->at, n = word_length(p), left = p->source->len - p->at;
        if (!left)
            break;
        if (*(text + begin) == '"') {
            p->at++;
            skip_string(p);
        } else if (text[begin] == '\'') { /* a character, or a lifetime */
            size_t length = left > 1 && text[begin + 1] == '\\' ? 2 : 1;
            p->at += left > length + 1 && text[begin + length + 1] == '\'' ? length + 2 : 1;
        } else if (n == 1 && text[begin] == 'r' && skip_raw_string(p)) {
            continue;
        } else if (n) {
            bool macro = (n == 2 && is_at(p, "rw")) || (n == 7 && is_at(p, "rewrite"));
            p->at += n;
            if (!macro || !is_at(p, "!"))
                continue;
            p->at++;
            skip_blanks(p);
            const char *opens = "([{",
                       *open = p->at < p->source->len ? strchr(opens, text[p->at]) : NULL;
            if (!open || !*open)
                continue; /* macro_rules! rw and the like */
            p->at++;
            code = rule(p, begin, ")]}"[open - opens], e);
        } else {
            p->at++;
        }
    }
    return err_up(e, code);
}

bool egg_is(const struct source_text *source)
{
    size_t n = unpack_name(source->name);
    return n > 3 && !strncmp(source->name + n - 3, ".rs", 3);
}

enum err_code egg_parse(struct rules *rules, struct arena *a, struct name_map *names,
                        const struct source_text *source, struct err *e)
{
    struct egg p = {.a = a, .rules = rules, .source = source, .names = names, .group = ""};
    const char *slash = strrchr(source->name, '/'), *stem = slash ? slash + 1 : source->name;
    p.group = name_of(&p, stem, strlen(stem) - 3);
    if (!lang_is(rules->lang, &lang_calculus))
        return err_fail(e, ERR_INPUT,
                        "%s: its rules are of the calculus, those of other files of the "
                        "%s language",
                        source->name, rules->lang->name);
    enum err_code code = pass(&p, true, e);
    return err_up(e, code ? code : pass(&p, false, e));
}
