/* The infix syntax, by precedence climbing over the language's table.
 *
 *     expression = operand { infix operand }          ^ binds right, the others left
 *     operand    = "-" operand | primary              the sign binds below ^, above *
 *     primary    = number | symbol | "?" name | function "(" expression { "," expression } ")"
 *                | "(" expression ")" | "d/d" name operand
 *
 * Two integers as written make one number: 3/2 is the rational, (3)/2 the quotient, -3 the number.
 * Nothing is guessed: what other notations would read silently is refused with what to write. */
#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/tree.h"

#include <string.h>

struct infix {
    struct tree tree;
    const char *at, *end;
    const char *token, *token_end; /* the last one read, for hints */
    bool patterns;
    unsigned depth;
};

static enum err_code expression(uint32_t *out, struct infix *p, unsigned precedence);

static void skip_space(struct infix *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
}

static void take(struct infix *p, size_t n)
{
    p->token = p->at;
    p->at += n;
    p->token_end = p->at;
}

static bool at_char(struct infix *p, char c)
{
    skip_space(p);
    return p->at < p->end && *p->at == c;
}

/* The infix operator here, or -1; of two the longer. */
static int peek_infix(struct infix *p, size_t *length)
{
    const struct language *lang = p->tree.lang;
    int found = -1;
    *length = 0;
    skip_space(p);
    size_t left = (size_t)(p->end - p->at);
    for (int op = X_ADD; op < lang->n_ops; op++) {
        const char *sign = lang->ops[op].infix;
        size_t n = sign ? strlen(sign) : 0;
        if (n > *length && n <= left && memcmp(p->at, sign, n) == 0) {
            *length = n;
            found = op;
        }
    }
    if (left >= 2 && p->at[0] == '*' && p->at[1] == '*' && lang_has(lang, X_POW)) {
        *length = 2;
        return lang_find(lang, "**", 2);
    }
    return found;
}

/* Length of the token here as people see it, for messages. */
static size_t shown_length(const char *s, const char *end)
{
    size_t n = identifier_length(s, end);
    if (n == 0)
        while (s + n < end && (is_digit(s[n]) || s[n] == '.'))
            n++;
    if (n == 0)
        n = character_length(s, end);
    return n < 60 ? n : 60;
}

static enum err_code fail_unexpected(struct infix *p)
{
    enum err_code code;
    skip_space(p);
    if (p->at == p->end) {
        return tree_fail(&p->tree, p->at,
                         p->token == NULL ? "an expression is missing"
                                          : "the expression ends too early");
    }
    size_t n = shown_length(p->at, p->end);
    code = tree_fail(&p->tree, p->at, "unexpected '%.*s'", (int)n, p->at);
    lexical_hint(p->tree.e, p->at, p->end);
    return code;
}

/* After a complete expression: what can this be? */
static enum err_code fail_trailing(struct infix *p)
{
    enum err_code code;
    skip_space(p);
    bool operand = is_letter(*p->at) || is_digit(*p->at) || *p->at == '(' || *p->at == '?';
    if (!operand)
        return fail_unexpected(p);
    size_t n = shown_length(p->at, p->end);
    int before = (int)(p->token_end - p->token);
    code = tree_fail(&p->tree, p->at, "an operator is missing before '%.*s'", (int)n, p->at);
    if (before < 60)
        err_hint(p->tree.e, "for a product write %.*s*%.*s", before, p->token, (int)n, p->at);
    return code;
}

static enum err_code negate(uint32_t *out, struct infix *p, uint32_t x, const char *sign)
{
    enum err_code code;
    struct tree *t = &p->tree;
    if (t->nodes[x].literal && t->nodes[x].leaf[0] != '-') {
        if (strcmp(t->nodes[x].leaf, "0") != 0)
            t->nodes[x].leaf = arena_printf(t->a, "-%s", t->nodes[x].leaf);
        *out = x;
        return OK;
    }
    uint32_t args[2];
    args[1] = x;
    if ((code = tree_leaf(&args[0], t, X_NUM, "-1", sign)))
        return err_up(p->tree.e, code);
    return err_up(p->tree.e, tree_apply(out, t, X_MUL, args, 2, sign));
}

static enum err_code number(uint32_t *out, struct infix *p)
{
    enum err_code code;
    const char *s = p->at;
    size_t n = 0, left = (size_t)(p->end - s);
    while (n < left && is_digit(s[n]))
        n++;
    if (n + 1 < left && s[n] == '.' && is_digit(s[n + 1]))
        for (n++; n < left && is_digit(s[n]);)
            n++;
    const char *leaf = number_read(p->tree.a, s, n);
    if (!leaf)
        return tree_fail(&p->tree, s, "the number has more than %d digits", EXPR_MAX_DIGITS);
    take(p, n);
    if ((code = tree_leaf(out, &p->tree, X_NUM, leaf, s)))
        return err_up(p->tree.e, code);
    p->tree.nodes[*out].literal = true;
    return OK;
}

static enum err_code parenthesized(uint32_t *out, struct infix *p)
{
    enum err_code code;
    const char *open = p->at;
    take(p, 1);
    if ((code = expression(out, p, 0)))
        return err_up(p->tree.e, code);
    if (at_char(p, ')')) {
        take(p, 1);
        p->token = p->token_end - 1 - open < 60 ? open : p->token;
        p->tree.nodes[*out].literal = false;
        return OK;
    }
    if (p->at == p->end)
        return tree_fail(&p->tree, open, "this parenthesis is never closed");
    return err_up(p->tree.e, fail_trailing(p));
}

/* name "(" arguments ")", the name taken already. `op` -1 stands for exp. */
static enum err_code call(uint32_t *out, struct infix *p, int op, const char *name, size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    const char *open = p->at;
    uint32_t args[LANG_MAX_ARITY + 1];
    unsigned arity = op < 0 ? 1 : t->lang->ops[op].arity, given = 0;
    take(p, 1);
    if (at_char(p, ')') && arity == 0) {
        take(p, 1);
        return err_up(p->tree.e, tree_apply(out, t, (uint16_t)op, args, 0, name));
    }
    for (;;) {
        skip_space(p);
        const char *argument = p->at;
        if ((code = expression(&args[given < arity ? given : arity], p, 0)))
            return err_up(p->tree.e, code);
        given++;
        if (op == X_D && given == 1 && (code = tree_check_d(t, args[0], argument)))
            return err_up(p->tree.e, code);
        if (!at_char(p, ','))
            break;
        take(p, 1);
    }
    if (!at_char(p, ')')) {
        if (p->at == p->end)
            return tree_fail(&p->tree, open, "this parenthesis is never closed");
        return err_up(p->tree.e, fail_trailing(p));
    }
    take(p, 1);
    p->token = p->token_end - name < 60 ? name : p->token;
    if (given != arity)
        return tree_fail(&p->tree, name, "'%.*s' takes %u argument%s, not %u", (int)n, name, arity,
                         arity == 1 ? "" : "s", given);
    if (op >= 0)
        return err_up(p->tree.e, tree_apply(out, t, (uint16_t)op, args, arity, name));
    args[1] = args[0];
    if ((code = tree_leaf(&args[0], t, X_SYM, "e", name)))
        return err_up(p->tree.e, code);
    return err_up(p->tree.e, tree_apply(out, t, X_POW, args, 2, name));
}

/* sin x, sin^2(x), sin alone. */
static enum err_code fail_function_without_arguments(struct infix *p, const char *name, size_t n)
{
    enum err_code code;
    skip_space(p);
    code = tree_fail(&p->tree, name, "'%.*s' is a function and needs (", (int)n, name);
    if (p->at < p->end && *p->at == '^') {
        const char *s = p->at + 1, *exponent = s;
        if (s < p->end && *s == '-')
            s++;
        while (s < p->end && is_digit(*s))
            s++;
        if (exponent < s && *exponent == '-')
            err_hint(p->tree.e, "write %.*s(...)^(%.*s), or the name of the inverse function",
                     (int)n, name, (int)(s - exponent < 20 ? s - exponent : 20), exponent);
        else
            err_hint(p->tree.e, "write %.*s(...)^%.*s", (int)n, name,
                     (int)(s - exponent < 20 ? s - exponent : 20), exponent);
    } else if (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at))) {
        err_hint(p->tree.e, "write %.*s(%.*s)", (int)n, name, (int)shown_length(p->at, p->end),
                 p->at);
    }
    return code;
}

/* d/dx f, the d not yet taken; f reaches as far as a power does. */
static enum err_code derivative(uint32_t *out, struct infix *p, bool *matched)
{
    enum err_code code;
    const char *d = p->at, *s = d + 1;
    *matched = false;
    while (s < p->end && is_space(*s))
        s++;
    if (s == p->end || *s != '/')
        return OK;
    for (s++; s < p->end && is_space(*s);)
        s++;
    size_t n = identifier_length(s, p->end);
    if (n < 2 || *s != 'd')
        return OK;
    *matched = true;
    struct tree *t = &p->tree;
    uint32_t args[2];
    if ((code = tree_leaf(&args[0], t, X_SYM, arena_strndup(t->a, s + 1, n - 1), s)) ||
        (code = tree_check_d(t, args[0], s)))
        return err_up(p->tree.e, code);
    p->at = s;
    take(p, n);
    skip_space(p);
    bool group = at_char(p, '(');
    if ((code = expression(&args[1], p, LANG_PRECEDENCE_MINUS)))
        return err_up(p->tree.e, code);
    group = group && p->token_end[-1] == ')' && *p->token == '(';
    if (!group && (at_char(p, '*') || at_char(p, '/'))) {
        code = tree_fail(&p->tree, d, "how far this derivative reaches is ambiguous");
        err_hint(p->tree.e, "write d(%.*s, ...)", (int)(n - 1 < 60 ? n - 1 : 60), s + 1);
        return code;
    }
    return err_up(p->tree.e, tree_apply(out, t, X_D, args, 2, d));
}

/* "sinx" is a symbol to nobody. */
static size_t function_glued_to_letter(const struct infix *p, const char *name, size_t n)
{
    if (n < 3 || is_digit(name[n - 1]))
        return 0;
    int op = lang_find(p->tree.lang, name, n - 1);
    return op >= X_SQRT && op < X_DECLARED && p->tree.lang->ops[op].arity == 1 ? n - 1 : 0;
}

static enum err_code name(uint32_t *out, struct infix *p)
{
    enum err_code code;
    struct tree *t = &p->tree;
    const char *s = p->at;
    size_t n = identifier_length(s, p->end);
    int op = lang_find(t->lang, s, n);
    bool exponential = n == 3 && memcmp(s, "exp", 3) == 0 && lang_has(t->lang, X_POW);
    if (op == X_D) {
        bool matched;
        if ((code = derivative(out, p, &matched)))
            return err_up(p->tree.e, code);
        if (matched)
            return OK;
    }
    take(p, n);
    if (op >= 0 || exponential) {
        if (at_char(p, '('))
            return err_up(p->tree.e, call(out, p, op, s, n));
        if (op >= 0 && t->lang->ops[op].arity == 0)
            return err_up(p->tree.e, tree_apply(out, t, (uint16_t)op, NULL, 0, s));
        return err_up(p->tree.e, fail_function_without_arguments(p, s, n));
    }
    if (p->at < p->end && *p->at == '(') {
        const char *near = tree_nearest_operator(t->lang, s, n);
        code = tree_fail(&p->tree, s, "unknown function '%.*s'", (int)(n < 60 ? n : 60), s);
        if (n == 1)
            err_hint(p->tree.e, "for a product write %c*(...)", *s);
        else if (near)
            err_hint(p->tree.e, "did you mean '%s'?", near);
        return code;
    }
    size_t glued = function_glued_to_letter(p, s, n);
    if (glued) {
        code = tree_fail(&p->tree, s, "unknown symbol '%.*s'", (int)n, s);
        err_hint(p->tree.e, "write %.*s(%c)", (int)glued, s, s[glued]);
        return code;
    }
    if (n > EXPR_MAX_NAME)
        return tree_fail(&p->tree, s, "a name has more than %d characters", EXPR_MAX_NAME);
    return err_up(p->tree.e, tree_leaf(out, t, X_SYM, arena_strndup(t->a, s, n), s));
}

static enum err_code pattern_variable(uint32_t *out, struct infix *p)
{
    struct tree *t = &p->tree;
    const char *s = p->at;
    size_t n = identifier_length(s + 1, p->end);
    if (!p->patterns)
        return tree_fail(&p->tree, s, "pattern variables belong to rules, not to expressions");
    if (n == 0 || n > EXPR_MAX_NAME)
        return tree_fail(&p->tree, s, "a pattern variable is ? and a name");
    take(p, n + 1);
    return err_up(p->tree.e, tree_leaf(out, t, X_VAR, arena_strndup(t->a, s + 1, n), s));
}

static enum err_code operand(uint32_t *out, struct infix *p)
{
    enum err_code code;
    skip_space(p);
    if (p->at == p->end)
        return err_up(p->tree.e, fail_unexpected(p));
    const char *s = p->at;
    if (*s == '-' && lang_has(p->tree.lang, X_MUL)) {
        take(p, 1);
        uint32_t x;
        if ((code = expression(&x, p, LANG_PRECEDENCE_MINUS)))
            return err_up(p->tree.e, code);
        return err_up(p->tree.e, negate(out, p, x, s));
    }
    if (is_digit(*s))
        return err_up(p->tree.e, number(out, p));
    if (*s == '(')
        return err_up(p->tree.e, parenthesized(out, p));
    if (*s == '?')
        return err_up(p->tree.e, pattern_variable(out, p));
    if (is_letter(*s))
        return err_up(p->tree.e, name(out, p));
    return err_up(p->tree.e, fail_unexpected(p));
}

/* 3/2 as written is the number; false if these are not two such integers. */
static bool fold_fraction(struct infix *p, int op, uint32_t left, uint32_t right)
{
    struct tree_node *x = &p->tree.nodes[left], *y = &p->tree.nodes[right];
    if (op != X_DIV || !x->literal || !y->literal || !number_is_integer(x->leaf) ||
        !number_is_integer(y->leaf) || y->leaf[0] == '-' || strcmp(y->leaf, "0") == 0)
        return false;
    x->leaf = number_combine(p->tree.a, '/', x->leaf, y->leaf, 2 * EXPR_MAX_DIGITS);
    x->literal = false; /* 1/2/3 is (1/2)/3 */
    return true;
}

static enum err_code expression(uint32_t *out, struct infix *p, unsigned precedence)
{
    enum err_code code;
    if (++p->depth > EXPR_MAX_DEPTH)
        return tree_fail(&p->tree, p->at, "the expression is nested more than %d deep",
                         EXPR_MAX_DEPTH);
    const struct language *lang = p->tree.lang;
    uint32_t args[2];
    if ((code = operand(&args[0], p)))
        return err_up(p->tree.e, code);
    for (;;) {
        size_t n;
        int op = peek_infix(p, &n);
        if (op < 0 || lang->ops[op].precedence < precedence)
            break;
        const char *sign = p->at;
        take(p, n);
        if ((code = expression(&args[1], p, lang->ops[op].precedence + !lang->ops[op].right)))
            return err_up(p->tree.e, code);
        if (!fold_fraction(p, op, args[0], args[1]) &&
            (code = tree_apply(&args[0], &p->tree, (uint16_t)op, args, 2, sign)))
            return err_up(p->tree.e, code);
    }
    *out = args[0];
    p->depth--;
    return OK;
}

enum err_code expr_parse_infix(struct expr *out, struct arena *a, const struct language *lang,
                               const struct source_text *source, size_t at, size_t len,
                               bool patterns, struct err *e)
{
    struct infix p = {
        .tree = {.a = a, .lang = lang, .source = source, .e = e},
        .at = source->text + at,
        .end = source->text + at + len,
        .patterns = patterns,
    };
    uint32_t root = 0;
    enum err_code code = err_up(e, expression(&root, &p, 0));
    if (code == OK) {
        skip_space(&p);
        if (p.at < p.end)
            code = *p.at == ')' ? tree_fail(&p.tree, p.at, "this ')' closes no parenthesis")
                                : err_up(e, fail_trailing(&p));
    }
    if (code == OK)
        tree_lay_out(out, &p.tree, root);
    tree_free(&p.tree);
    return code;
}
