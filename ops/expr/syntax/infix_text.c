#include "ops/expr/syntax/infix_text.h"

#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"

#include <ctype.h>
#include <string.h>

void infix_skip_space(struct infix *p)
{
    for (size_t n; p->at < p->end && (n = space_length(p->at, p->end));)
        p->at += n;
}

void infix_choose(struct infix *p, const char *at)
{
    if (!p->choice)
        p->choice = at;
}

void infix_take(struct infix *p, size_t n)
{
    p->token = p->at;
    p->at += n;
    p->token_end = p->at;
}

bool infix_at(struct infix *p, char c)
{
    infix_skip_space(p);
    return p->at < p->end && *p->at == c;
}

int infix_peek(struct infix *p, size_t *length)
{
    const struct language *lang = p->tree.lang;
    int found = -1;
    *length = 0;
    infix_skip_space(p);
    if (p->bars && infix_at(p, '|'))
        return -1;
    size_t left = (size_t)(p->end - p->at), typed;
    char ascii = lexical_sign(p->at, p->end, &typed);
    for (int op = X_ADD; op < lang->n_ops; op++) {
        const char *sign = lang->ops[op].infix;
        size_t n = sign ? strlen(sign) : 0;
        if (n > *length && n <= left && memcmp(p->at, sign, n) == 0) {
            *length = n;
            found = op;
        } else if (sign && ascii && sign[0] == ascii && !sign[1]) {
            *length = typed;
            return op;
        }
    }
    if (left >= 2 && p->at[0] == '*' && p->at[1] == '*' && lang_has(lang, X_POW)) {
        *length = 2;
        return lang_find(lang, "**", 2);
    }
    if (left >= 2 && p->at[0] == '>' && p->at[1] == '>' && lang_is(lang, &lang_boolean)) {
        *length = 2;
        return X_IMPLIES;
    }
    return found;
}

/* Length of the visible token at s, for messages. */
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

enum err_code infix_fail_unexpected(struct infix *p)
{
    enum err_code code;
    infix_skip_space(p);
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

enum err_code infix_fail_function(struct infix *p, const char *name, size_t n)
{
    static const char *const others[][2] = {
        {"log10", "ln(...)/ln(10)"}, {"log_10", "ln(...)/ln(10)"}, {"lg", "ln(...)/ln(10)"},
        {"log2", "ln(...)/ln(2)"},   {"log_2", "ln(...)/ln(2)"},   {"cbrt", "(...)^(1/3)"}};
    const char *near = tree_nearest_operator(p->tree.lang, name, n);
    enum err_code code =
        tree_fail(&p->tree, name, "unknown function '%.*s'", (int)(n < 60 ? n : 60), name);
    if (n == 1)
        err_hint(p->tree.e, "for a product write %c*(...)", *name);
    else if (near)
        err_hint(p->tree.e, "did you mean '%s'?", near);
    else
        err_hint(p->tree.e, "a file of operators declares functions of your own: --operators FILE");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (lexical_is(name, n, others[i][0]))
            err_hint(p->tree.e, "write %s", others[i][1]);
    return code;
}

enum err_code infix_fail_trailing(struct infix *p)
{
    enum err_code code;
    infix_skip_space(p);
    bool operand =
        p->at < p->end && (is_letter(*p->at) || is_digit(*p->at) || *p->at == '(' || *p->at == '?');
    if (!operand)
        return infix_fail_unexpected(p);
    size_t n = shown_length(p->at, p->end);
    int before = (int)(p->token_end - p->token);
    code = tree_fail(&p->tree, p->at, "an operator is missing before '%.*s'", (int)n, p->at);
    if (before < 60)
        err_hint(p->tree.e, "for a product write %.*s*%.*s", before, p->token, (int)n, p->at);
    return code;
}

/* 12, 0.25, 1e3; 2e-3 is ambiguous with 2*e - 3. */
enum err_code infix_number(uint32_t *out, struct infix *p)
{
    enum err_code code;
    struct arena *a = p->tree.a;
    const char *s = p->at;
    size_t exponent, n = number_length(s, p->end, &exponent);
    const char *leaf = number_read(a, s, exponent ? exponent : n);
    if (leaf && exponent) {
        const char *sign = s + exponent + 1;
        size_t plus = *sign == '+';
        const char *power = number_read(a, sign + plus, n - exponent - 1 - plus);
        power = power ? number_combine(a, '^', "10", power, EXPR_MAX_DIGITS) : NULL;
        leaf = power ? number_combine(a, '*', leaf, power, EXPR_MAX_DIGITS) : NULL;
        if (!is_digit(*sign))
            infix_choose(p, s);
    }
    if (!leaf)
        return tree_fail(&p->tree, s, "the number has more than %d digits", EXPR_MAX_DIGITS);
    infix_take(p, n);
    if ((code = tree_leaf(out, &p->tree, X_NUM, leaf, s)))
        return err_up(p->tree.e, code);
    p->tree.nodes[*out].literal = true;
    return OK;
}

enum err_code infix_pattern_variable(uint32_t *out, struct infix *p)
{
    struct tree *t = &p->tree;
    const char *s = p->at;
    size_t n = identifier_length(s + 1, p->end);
    if (!p->patterns)
        return tree_fail(&p->tree, s, "pattern variables belong to rules, not to expressions");
    if (n == 0 || n > EXPR_MAX_NAME)
        return tree_fail(&p->tree, s, "a pattern variable is ? and a name");
    infix_take(p, n + 1);
    return err_up(p->tree.e, tree_leaf(out, t, X_VAR, arena_strndup(t->a, s + 1, n), s));
}

/* In a language without functions, "sin x" would parse as a product. */
static enum err_code refuse_foreign(struct infix *p, const char *name, size_t n)
{
    int op = lang_find(&lang_calculus, name, n);
    infix_skip_space(p);
    bool product =
        p->at < p->end && (*p->at == '(' || is_letter(*p->at) || isdigit((unsigned char)*p->at));
    if (!product || lang_is(p->tree.lang, &lang_calculus) || op < X_SQRT ||
        lang_calculus.ops[op].arity != 1)
        return OK;
    enum err_code code = tree_fail(&p->tree, name, "unknown function '%.*s'", (int)n, name);
    err_hint(p->tree.e, "for a product write %.*s*...", (int)n, name);
    return code;
}

enum err_code infix_refuse_glued(struct infix *p, const char *name, size_t n)
{
    enum err_code code;
    if ((code = refuse_foreign(p, name, n)))
        return err_up(p->tree.e, code);
    for (size_t k = n - 1; k >= 2; k--) {
        if (k < n - 1 && is_letter(name[k]) && name[k] != '_')
            continue;
        int op = lang_find(p->tree.lang, name, k);
        bool function = op >= X_SQRT && op < X_DECLARED && p->tree.lang->ops[op].arity == 1;
        if (!function && !(k == 3 && memcmp(name, "exp", 3) == 0 && lang_has(p->tree.lang, X_POW)))
            continue;
        code = tree_fail(&p->tree, name, "unknown symbol '%.*s'", (int)(n < 60 ? n : 60), name);
        if (name[k] != '_' && n < 60)
            err_hint(p->tree.e, "write %.*s(%.*s)", (int)k, name, (int)(n - k), name + k);
        return code;
    }
    return OK;
}
