/* Prefix tokens, separated by blanks. Numbers are "-4", "3/2", "0.5", or INT+ and INT- followed by
 * one token per digit. The vocabulary `words` has other names for operators: `add x INT+ 2`. Lists
 * are those of egg: (+ ?x (pow y 2)), an operator and its arguments; (log b x) is ln(x)/ln(b). */
#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/tree.h"
#include "ops/expr/syntax/variable_name.h"

#include <string.h>

struct prefix {
    struct tree tree;
    const char *at, *end;
    bool patterns, words, lists;
    const struct language **declares; /* extended by lists, or NULL */
};

static enum err_code term(uint32_t *out, struct prefix *p);

static void skip_space(struct prefix *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
}

/* Length of the next token, 0 at the end; a parenthesis is a token of its own. */
static size_t peek(struct prefix *p)
{
    size_t n = 0;
    skip_space(p);
    for (; p->at + n < p->end && !is_space(p->at[n]); n++)
        if (p->at[n] == '(' || p->at[n] == ')')
            return n ? n : 1;
    return n;
}

static int shown(size_t n)
{
    return (int)(n < 60 ? n : 60);
}

/* INT+ 1 2: parses the digits that follow. */
static enum err_code digits(uint32_t *out, struct prefix *p, const char *token)
{
    char text[EXPR_MAX_DIGITS + 2];
    size_t n = 0;
    if (token[3] == '-')
        text[n++] = '-';
    size_t first = n;
    while (peek(p) == 1 && is_digit(*p->at)) {
        if (n - first == EXPR_MAX_DIGITS)
            return tree_fail(&p->tree, token, "the number has more than %d digits",
                             EXPR_MAX_DIGITS);
        text[n++] = *p->at++;
    }
    if (n == first)
        return tree_fail(&p->tree, token, "'%.4s' needs digits after it", token);
    const char *leaf = number_read(p->tree.a, text, n);
    return err_up(p->tree.e, tree_leaf(out, &p->tree, X_NUM, leaf, token));
}

static enum err_code leaf(uint32_t *out, struct prefix *p, const char *s, size_t n)
{
    struct tree *t = &p->tree;
    bool number = is_digit(*s) || (*s == '-' && n > 1 && is_digit(s[1])), variable = *s == '?';
    bool name = n > variable && identifier_length(s + variable, s + n) == n - variable;
    bool quoted = n > 2 && *s == '"' && identifier_length(s + 1, s + n) == n - 2 && s[n - 1] == '"';
    const char *text = NULL;
    if (p->words && n == 1 && strchr("fghY", *s) && lang_has(t->lang, X_POW))
        return tree_fail(t, s, "%c is an unknown function: equations are not read", *s);
    if (number)
        text = number_read(t->a, s, n);
    else if (name && n - variable <= EXPR_MAX_NAME && (p->patterns || !variable))
        text = arena_strndup(t->a, s + variable, n - variable);
    else if (quoted && n - 2 <= EXPR_MAX_NAME)
        text = variable_leaf(t->a, t->lang, s + 1, n - 2);
    if (text)
        return err_up(t->e, tree_leaf(out, t, number ? X_NUM : variable ? X_VAR : X_SYM, text, s));
    if (p->lists)
        return tree_fail(t, s, "'%.*s' is not a number, symbol or variable", shown(n), s);
    if (number)
        return tree_fail(t, s, "'%.*s' is not a number", shown(n), s);
    if (name && variable && !p->patterns)
        return tree_fail(t, s, "pattern variables belong to rules, not to expressions");
    if (name)
        return tree_fail(t, s, "a name has more than %d characters", EXPR_MAX_NAME);
    enum err_code code = tree_fail(t, s, "unknown token '%.*s'", shown(n), s);
    lexical_hint(t->e, s, s + n);
    return code;
}

/* Parses argument number i of the operator. */
static enum err_code argument(uint32_t *out, struct prefix *p, int op, unsigned i)
{
    const char *at = p->at;
    enum err_code code = term(out, p);
    if (!code && op == X_D && i == 0 && lang_has(p->tree.lang, X_D))
        code = tree_check_d(&p->tree, *out, at);
    return err_up(p->tree.e, code);
}

/* Parses the arguments of an operator; op -1 denotes exp. */
static enum err_code application(uint32_t *out, struct prefix *p, int op, const char *s, size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    uint32_t args[LANG_MAX_ARITY];
    unsigned arity = op < 0 ? 1 : t->lang->ops[op].arity;
    for (unsigned i = 0; i < arity; i++) {
        if (peek(p) == 0)
            return tree_fail_arity(t, s, n, arity, i);
        if ((code = argument(&args[i], p, op, i)))
            return err_up(t->e, code);
    }
    return err_up(t->e, op < 0 ? tree_exponential(out, t, args[0], s)
                               : tree_apply(out, t, (uint16_t)op, args, arity, s));
}

/* Names of `words` and their meaning in prefix tokens, where a and b are the arguments, A is a copy
 * of a, and 1/b is a number if b is one. sign has its value except at 0. */
static const struct word {
    const char *name;
    unsigned arity;
    const char *means;
} words[] = {
    {"add", 2, "+ a b"},      {"sub", 2, "- a b"},
    {"mul", 2, "* a b"},      {"div", 2, "/ a b"},
    {"subtract", 2, "- a b"}, {"multiply", 2, "* a b"},
    {"inv", 1, "/ 1 a"},      {"pow2", 1, "pow a 2"},
    {"pow3", 1, "pow a 3"},   {"pow4", 1, "pow a 4"},
    {"pow5", 1, "pow a 5"},   {"rac", 2, "pow a 1/b"},
    {"sign", 1, "/ a abs A"}, {"E", 0, "e"},
    {"I", 0, "sqrt -1"},      {"derivative", 2, "d b a"},
};

static const struct word *find_word(const struct prefix *p, const char *s, size_t n)
{
    const struct language *lang = p->tree.lang;
    for (size_t i = 0; i < sizeof words / sizeof *words && p->words; i++)
        if (lexical_is(s, n, words[i].name) &&
            (lang_has(lang, X_POW) ||
             lang_find(lang, words[i].means, strcspn(words[i].means, " ")) >= 0))
            return &words[i];
    return NULL;
}

/* 1/x, as a number if x is a number. */
static enum err_code invert(uint32_t *out, struct tree *t, uint32_t x, const char *at)
{
    uint32_t args[2] = {0, x};
    const char *leaf = t->nodes[x].op == X_NUM ? t->nodes[x].leaf : NULL;
    const char *number = leaf ? number_combine(t->a, '/', "1", leaf, EXPR_MAX_DIGITS) : NULL;
    enum err_code code = tree_leaf(number ? out : args, t, X_NUM, number ? number : "1", at);
    if (!code && !number)
        code = tree_apply(out, t, X_DIV, args, 2, at);
    return err_up(t->e, code);
}

/* Builds the term that begins at *means, and advances *means past it. */
static enum err_code build(uint32_t *out, struct tree *t, const char **means, const uint32_t *args,
                           const char *at)
{
    const char *token = *means;
    size_t n = strcspn(token, " ");
    uint32_t children[LANG_MAX_ARITY];
    enum err_code code = OK;
    *means += n + (token[n] == ' ');
    if (n == 1 && (*token == 'a' || *token == 'b')) {
        *out = args[*token - 'a'];
        return OK;
    }
    if (n == 1 && *token == 'A')
        return err_up(t->e, tree_copy(out, t, args[0], at));
    if (lexical_is(token, n, "1/b"))
        return err_up(t->e, invert(out, t, args[1], at));
    int op = lang_find(t->lang, token, n);
    if (op < 0)
        return err_up(t->e, tree_leaf(out, t, *token == 'e' ? X_SYM : X_NUM,
                                      arena_strndup(t->a, token, n), at));
    for (unsigned i = 0; i < t->lang->ops[op].arity && !code; i++)
        code = build(&children[i], t, means, args, at);
    if (!code)
        code = tree_apply(out, t, (uint16_t)op, children, t->lang->ops[op].arity, at);
    return err_up(t->e, code);
}

static enum err_code word(uint32_t *out, struct prefix *p, const struct word *w, const char *s)
{
    struct tree *t = &p->tree;
    uint32_t args[2] = {0};
    const char *last = s, *means = w->means;
    enum err_code code = OK;
    for (unsigned i = 0; !code && i < w->arity; i++) {
        if (peek(p) == 0)
            return tree_fail_arity(t, s, strlen(w->name), w->arity, i);
        last = p->at;
        code = term(&args[i], p);
    }
    if (!code && *means == 'd')
        code = tree_check_d(t, args[1], last);
    return err_up(t->e, code ? code : build(out, t, &means, args, s));
}

/* ---- lists ---- */

static bool is_exp(const struct prefix *p, const char *s, size_t n)
{
    return lexical_is(s, n, "exp") && lang_has(p->tree.lang, X_POW);
}

/* Finds the operator; declares an unknown one. */
static enum err_code list_operator(int *op, struct prefix *p, const char *s, size_t n,
                                   unsigned given)
{
    struct tree *t = &p->tree;
    *op = lang_find(t->lang, s, n);
    if (*op >= 0 || is_exp(p, s, n))
        return OK;
    if (!p->declares)
        return tree_fail(t, s, "unknown operator '%.*s'", shown(n), s);
    enum err_code code =
        lang_declare(&t->lang, t->a, t->lang, arena_strndup(t->a, s, n), given, t->e);
    if (code)
        err_locate(t->e, t->source, (size_t)(s - t->source->text));
    *p->declares = t->lang;
    *op = t->lang->n_ops - 1;
    return err_up(t->e, code);
}

/* Parses (OPERATOR ARGUMENT...); the parenthesis is already consumed. */
static enum err_code list(uint32_t *out, struct prefix *p, const char *open)
{
    struct tree *t = &p->tree;
    uint32_t args[LANG_MAX_ARITY];
    unsigned given = 0;
    size_t n = peek(p);
    const char *name = p->at;
    enum err_code code = OK;
    int op;
    if (n == 0 || *name == '(' || *name == ')')
        return tree_fail(t, name, "a list begins with an operator");
    p->at += n;
    for (op = lang_find(t->lang, name, n); peek(p) && *p->at != ')'; given++) {
        if (given == LANG_MAX_ARITY)
            return tree_fail(t, p->at, "'%.*s' has more than %d arguments", shown(n), name,
                             LANG_MAX_ARITY);
        if ((code = argument(&args[given], p, op, given)))
            return err_up(t->e, code);
    }
    if (p->at == p->end)
        return tree_fail(t, open, "this parenthesis is never closed");
    p->at++;
    if (lexical_is(name, n, "log") && given == 2 && lang_has(t->lang, X_POW)) {
        if (!(code = tree_apply(&args[0], t, X_LN, &args[0], 1, name)) &&
            !(code = tree_apply(&args[1], t, X_LN, &args[1], 1, name)))
            code = tree_apply(out, t, X_DIV, (uint32_t[]){args[1], args[0]}, 2, name);
        return err_up(t->e, code);
    }
    if ((code = list_operator(&op, p, name, n, given)))
        return err_up(t->e, code);
    unsigned arity = op < 0 ? 1 : t->lang->ops[op].arity;
    if (given != arity)
        return tree_fail_arity(t, name, n, arity, given);
    return err_up(t->e, op < 0 ? tree_exponential(out, t, args[0], name)
                               : tree_apply(out, t, (uint16_t)op, args, arity, name));
}

/* ---- entry points ---- */

static enum err_code term(uint32_t *out, struct prefix *p)
{
    enum err_code code = tree_enter(&p->tree, p->at);
    if (code)
        return err_up(p->tree.e, code);
    size_t n = peek(p);
    const char *s = p->at;
    if (n == 0 || (p->lists && *s == ')'))
        return tree_fail(&p->tree, s, p->lists ? "a term is missing" : "an expression is missing");
    if (!p->lists && (*s == '(' || *s == ')'))
        return tree_fail(&p->tree, s, "prefix tokens have no parentheses");
    p->at += n;
    int op = lang_find_token(p->tree.lang, s, n);
    const struct word *w = find_word(p, s, n);
    if (*s == '(')
        code = list(out, p, s);
    else if (p->lists)
        code = leaf(out, p, s, n);
    else if (w)
        code = word(out, p, w, s);
    else if (lexical_is(s, n, "INT+") || lexical_is(s, n, "INT-"))
        code = digits(out, p, s);
    else if (op >= 0 || is_exp(p, s, n))
        code = application(out, p, op, s, n);
    else
        code = leaf(out, p, s, n);
    p->tree.depth--;
    return err_up(p->tree.e, code);
}

/* Reports text after an expression: the name before it may be a misspelt operator. */
static enum err_code fail_trailing(struct prefix *p, size_t n, const struct tree_node *top)
{
    struct tree *t = &p->tree;
    if (p->lists)
        return tree_fail(t, p->at, "'%.*s' after the end of the term",
                         shown((size_t)(p->end - p->at)), p->at);
    enum err_code code =
        tree_fail(t, p->at, "'%.*s' after the end of the expression", shown(n), p->at);
    const char *near =
        top->op == X_SYM ? tree_nearest_operator(t->lang, top->leaf, strlen(top->leaf)) : NULL;
    if (near)
        err_hint(t->e, "'%.60s' is not an operator; did you mean '%s'?", top->leaf, near);
    else if (top->op == X_SYM)
        err_hint(t->e, "'%.60s' is not an operator", top->leaf);
    return code;
}

static enum err_code parse(struct expr *out, struct prefix p, struct arena *a,
                           const struct language *lang, const struct source_text *source, size_t at,
                           size_t len, struct err *e)
{
    uint32_t root = 0;
    size_t n;
    p.tree = (struct tree){.a = a, .lang = lang, .source = source, .e = e};
    p.at = source->text + at;
    p.end = p.at + len;
    enum err_code code = err_up(e, term(&root, &p));
    /* egg accepts surplus closing parentheses at the end. */
    while (!code && (n = peek(&p)) && p.lists && *p.at == ')')
        p.at++;
    if (!code && p.at < p.end)
        code = fail_trailing(&p, n, &p.tree.nodes[root]);
    if (!code)
        tree_lay_out(out, &p.tree, root);
    tree_free(&p.tree);
    return code;
}

enum err_code expr_parse_prefix(struct expr *out, struct arena *a, const struct language *lang,
                                const struct source_text *source, size_t at, size_t len,
                                bool patterns, struct err *e)
{
    struct prefix p = {.patterns = patterns};
    return err_up(e, parse(out, p, a, lang, source, at, len, e));
}

enum err_code expr_parse_words(struct expr *out, struct arena *a, const struct language *lang,
                               const struct source_text *source, size_t at, size_t len,
                               bool patterns, struct err *e)
{
    struct prefix p = {.patterns = patterns, .words = true};
    return err_up(e, parse(out, p, a, lang, source, at, len, e));
}

enum err_code expr_parse_sexpr(struct expr *out, struct arena *a, const struct language *lang,
                               const struct language **declares, const struct source_text *source,
                               size_t at, size_t len, struct err *e)
{
    struct prefix p = {.patterns = true, .lists = true, .declares = declares};
    return err_up(e, parse(out, p, a, lang, source, at, len, e));
}

enum err_code expr_from_prefix(struct expr *out, struct arena *a, const struct language *lang,
                               const char *text, struct err *e)
{
    struct source_text source = {"<expression>", text, strlen(text)};
    return err_up(e, expr_parse_prefix(out, a, lang, &source, 0, source.len, true, e));
}

enum err_code expr_parser_find(expr_parser **out, const char *name, struct err *e)
{
    enum { PARSERS = 3, NAMES };
    static const char *const names[NAMES] = {"infix", "prefix", "words", "latex"};
    static expr_parser *const parsers[PARSERS] = {expr_parse_infix, expr_parse_prefix,
                                                  expr_parse_words}; /* latex: expr_argument.h */
    *out = expr_parse_infix;
    for (int i = 0; i < PARSERS; i++)
        if (!name || strcmp(name, names[i]) == 0) {
            *out = parsers[i];
            return OK;
        }
    enum err_code code =
        err_fail(e, ERR_INPUT, "unknown syntax '%.40s': infix, prefix, words or latex", name);
    return err_suggest(code, name, names, NAMES, e);
}
