/* Prefix tokens, separated by blanks. Numbers are "-4", "3/2", "0.5", or INT+ and INT- followed by
 * digits, one a token. */
#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/tree.h"

#include <string.h>

struct prefix {
    struct tree tree;
    const char *at, *end;
    bool patterns;
    unsigned depth;
};

static enum err_code term(uint32_t *out, struct prefix *p);

static void skip_space(struct prefix *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
}

/* The token here, 0 at the end; a parenthesis is a token of its own. */
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

/* INT+ 1 2: the digits that follow are the number's. */
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
    enum err_code code;
    struct tree *t = &p->tree;
    if (is_digit(*s) || (*s == '-' && n > 1 && is_digit(s[1]))) {
        const char *value = number_read(t->a, s, n);
        if (!value)
            return tree_fail(&p->tree, s, "'%.*s' is not a number", shown(n), s);
        return err_up(p->tree.e, tree_leaf(out, t, X_NUM, value, s));
    }
    bool variable = *s == '?';
    if (identifier_length(s + variable, s + n) == n - variable && n > variable) {
        if (variable && !p->patterns)
            return tree_fail(&p->tree, s, "pattern variables belong to rules, not to expressions");
        if (n - variable > EXPR_MAX_NAME)
            return tree_fail(&p->tree, s, "a name has more than %d characters", EXPR_MAX_NAME);
        const char *text = arena_strndup(t->a, s + variable, n - variable);
        return err_up(p->tree.e, tree_leaf(out, t, variable ? X_VAR : X_SYM, text, s));
    }
    code = tree_fail(&p->tree, s, "unknown token '%.*s'", shown(n), s);
    lexical_hint(p->tree.e, s, s + n);
    return code;
}

/* The arguments of an operator; op -1 is exp. */
static enum err_code application(uint32_t *out, struct prefix *p, int op, const char *s, size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    uint32_t args[LANG_MAX_ARITY + 1];
    unsigned arity = op < 0 ? 1 : t->lang->ops[op].arity;
    for (unsigned i = 0; i < arity; i++) {
        size_t next = peek(p);
        if (next == 0)
            return tree_fail(&p->tree, s, "'%.*s' takes %u argument%s, not %u", shown(n), s, arity,
                             arity == 1 ? "" : "s", i);
        const char *argument = p->at;
        if ((code = term(&args[i], p)))
            return err_up(p->tree.e, code);
        if (op == X_D && i == 0 && (code = tree_check_d(t, args[0], argument)))
            return err_up(p->tree.e, code);
    }
    if (op >= 0)
        return err_up(p->tree.e, tree_apply(out, t, (uint16_t)op, args, arity, s));
    args[1] = args[0];
    if ((code = tree_leaf(&args[0], t, X_SYM, "e", s)))
        return err_up(p->tree.e, code);
    return err_up(p->tree.e, tree_apply(out, t, X_POW, args, 2, s));
}

static enum err_code term(uint32_t *out, struct prefix *p)
{
    if (++p->depth > EXPR_MAX_DEPTH)
        return tree_fail(&p->tree, p->at, "the expression is nested more than %d deep",
                         EXPR_MAX_DEPTH);
    const struct language *lang = p->tree.lang;
    size_t n = peek(p);
    const char *s = p->at;
    enum err_code code;
    if (n == 0)
        return tree_fail(&p->tree, s, "an expression is missing");
    if (*s == '(' || *s == ')')
        return tree_fail(&p->tree, s, "there are no parentheses in prefix tokens");
    p->at += n;
    int op = lang_find(lang, s, n);
    if (n == 4 && (memcmp(s, "INT+", 4) == 0 || memcmp(s, "INT-", 4) == 0))
        code = digits(out, p, s);
    else if (op >= 0 || (n == 3 && memcmp(s, "exp", 3) == 0 && lang_has(lang, X_POW)))
        code = application(out, p, op, s, n);
    else
        code = leaf(out, p, s, n);
    p->depth--;
    return err_up(p->tree.e, code);
}

enum err_code expr_parse_prefix(struct expr *out, struct arena *a, const struct language *lang,
                                const struct source_text *source, size_t at, size_t len,
                                bool patterns, struct err *e)
{
    struct prefix p = {
        .tree = {.a = a, .lang = lang, .source = source, .e = e},
        .at = source->text + at,
        .end = source->text + at + len,
        .patterns = patterns,
    };
    uint32_t root = 0;
    size_t n;
    enum err_code code = err_up(e, term(&root, &p));
    if (code == OK && (n = peek(&p)) > 0) {
        const struct tree_node *top = &p.tree.nodes[root];
        code = tree_fail(&p.tree, p.at, "'%.*s' after the end of the expression", shown(n), p.at);
        const char *near =
            top->op == X_SYM ? tree_nearest_operator(lang, top->leaf, strlen(top->leaf)) : NULL;
        if (near)
            err_hint(e, "'%.60s' is no operator; did you mean '%s'?", top->leaf, near);
        else if (top->op == X_SYM)
            err_hint(e, "'%.60s' is no operator", top->leaf);
    }
    if (code == OK)
        tree_lay_out(out, &p.tree, root);
    tree_free(&p.tree);
    return code;
}

enum err_code expr_from_prefix(struct expr *out, struct arena *a, const struct language *lang,
                               const char *text, struct err *e)
{
    struct source_text source = {"<expression>", text, strlen(text)};
    return err_up(e, expr_parse_prefix(out, a, lang, &source, 0, source.len, true, e));
}
