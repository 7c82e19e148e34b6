/* Terms in parentheses, as egg writes them: (+ ?x (pow y 2)). A list is an operator and its
 * arguments; all else is a leaf, as in prefix tokens. (exp x) is (pow e x), (log b x) is
 * ln(x)/ln(b). */
#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/tree.h"

#include <string.h>

enum { MAX_ARGS = LANG_MAX_ARITY };

struct sexpr {
    struct tree tree;
    const char *at, *end;
    const struct language **declares; /* NULL: unknown operators are refused */
    unsigned depth;
};

static void skip_space(struct sexpr *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
}

/* Length of the atom here; 0 at a parenthesis or the end. */
static size_t atom_length(struct sexpr *p)
{
    size_t n = 0;
    skip_space(p);
    while (p->at + n < p->end && !is_space(p->at[n]) && p->at[n] != '(' && p->at[n] != ')')
        n++;
    return n;
}

static int shown(size_t n)
{
    return (int)(n < 60 ? n : 60);
}

static enum err_code leaf(uint32_t *out, struct sexpr *p)
{
    struct tree *t = &p->tree;
    const char *s = p->at;
    size_t n = atom_length(p);
    bool variable = *s == '?';
    p->at += n;
    if (is_digit(*s) || (*s == '-' && n > 1)) {
        const char *value = number_read(t->a, s, n);
        if (value)
            return err_up(t->e, tree_leaf(out, t, X_NUM, value, s));
    } else if (n > variable && identifier_length(s + variable, s + n) == n - variable &&
               n - variable <= EXPR_MAX_NAME) {
        const char *name = arena_strndup(t->a, s + variable, n - variable);
        return err_up(t->e, tree_leaf(out, t, variable ? X_VAR : X_SYM, name, s));
    }
    return tree_fail(t, s, "'%.*s' is no number, symbol or variable", shown(n), s);
}

/* The operator's number, -1 for exp, -2 for log with a base. */
static enum err_code find(int *op, struct sexpr *p, const char *s, size_t n, unsigned given)
{
    struct tree *t = &p->tree;
    bool calculus = lang_has(t->lang, X_POW);
    *op = lang_find(t->lang, s, n);
    if (calculus && n == 3 && !memcmp(s, "log", 3) && given == 2)
        *op = -2;
    if (*op >= 0 || *op == -2)
        return OK;
    if (calculus && n == 3 && !memcmp(s, "exp", 3))
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

static enum err_code term(uint32_t *out, struct sexpr *p);

/* (OPERATOR ARGUMENT...), the parenthesis taken already. */
static enum err_code list(uint32_t *out, struct sexpr *p, const char *open)
{
    struct tree *t = &p->tree;
    uint32_t args[MAX_ARGS];
    unsigned given = 0;
    size_t n = atom_length(p);
    const char *name = p->at;
    enum err_code code = OK;
    int op = 0;
    if (n == 0)
        return tree_fail(t, name, "a list begins with an operator");
    p->at += n;
    for (skip_space(p); p->at < p->end && *p->at != ')'; skip_space(p)) {
        if (given == MAX_ARGS)
            return tree_fail(t, p->at, "'%.*s' has more than %d arguments", shown(n), name,
                             MAX_ARGS);
        const char *argument = p->at;
        if ((code = term(&args[given++], p)))
            return err_up(t->e, code);
        if (given == 1 && lang_find(t->lang, name, n) == X_D && lang_has(t->lang, X_D) &&
            (code = tree_check_d(t, args[0], argument)))
            return err_up(t->e, code);
    }
    if (p->at == p->end)
        return tree_fail(t, open, "this parenthesis is never closed");
    p->at++;
    if ((code = find(&op, p, name, n, given)))
        return err_up(t->e, code);
    unsigned arity = op == -2 ? 2 : op == -1 ? 1 : t->lang->ops[op].arity;
    if (given != arity)
        return tree_fail(t, name, "'%.*s' takes %u argument%s, not %u", shown(n), name, arity,
                         arity == 1 ? "" : "s", given);
    if (op == -2) {
        uint32_t quotient[2];
        if (!(code = tree_apply(&quotient[0], t, X_LN, &args[1], 1, name)) &&
            !(code = tree_apply(&quotient[1], t, X_LN, &args[0], 1, name)))
            code = tree_apply(out, t, X_DIV, quotient, 2, name);
    } else if (op == -1) {
        uint32_t power[2] = {0, args[0]};
        if (!(code = tree_leaf(&power[0], t, X_SYM, "e", name)))
            code = tree_apply(out, t, X_POW, power, 2, name);
    } else {
        code = tree_apply(out, t, (uint16_t)op, args, arity, name);
    }
    return err_up(t->e, code);
}

static enum err_code term(uint32_t *out, struct sexpr *p)
{
    if (++p->depth > EXPR_MAX_DEPTH)
        return tree_fail(&p->tree, p->at, "the expression is nested more than %d deep",
                         EXPR_MAX_DEPTH);
    skip_space(p);
    const char *s = p->at;
    enum err_code code;
    if (s == p->end || *s == ')')
        return tree_fail(&p->tree, s, "a term is missing");
    if (*s == '(') {
        p->at++;
        code = list(out, p, s);
    } else {
        code = leaf(out, p);
    }
    p->depth--;
    return err_up(p->tree.e, code);
}

enum err_code expr_parse_sexpr(struct expr *out, struct arena *a, const struct language *lang,
                               const struct language **declares, const struct source_text *source,
                               size_t at, size_t len, struct err *e)
{
    struct sexpr p = {
        .tree = {.a = a, .lang = lang, .source = source, .e = e},
        .at = source->text + at,
        .end = source->text + at + len,
        .declares = declares,
    };
    uint32_t root = 0;
    enum err_code code = err_up(e, term(&root, &p));
    /* egg does not mind more parentheses at the end than were opened. */
    while (!code && p.at < p.end && (is_space(*p.at) || *p.at == ')'))
        p.at++;
    if (!code && p.at < p.end)
        code = tree_fail(&p.tree, p.at, "'%.*s' after the end of the term",
                         shown((size_t)(p.end - p.at)), p.at);
    if (!code)
        tree_lay_out(out, &p.tree, root);
    tree_free(&p.tree);
    return code;
}
