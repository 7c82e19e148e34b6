#include "ops/expr/syntax/infix_text.h"

#include "ops/expr/rational.h"
#include "ops/expr/syntax/lexical.h"

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

void infix_choose_between(struct infix *p, const char *at, const char *message, const char *instead,
                          const char *otherwise)
{
    struct arena *a = p->tree.a;
    if (!p->choice) {
        p->choice = at;
        p->choice_message = message;
        p->choice_hint = arena_printf(a, "write %s%s%s", instead, otherwise ? ", or " : "",
                                      otherwise ? otherwise : "");
    }
    if (!otherwise)
        return;
    if (!p->advice)
        p->advice = otherwise;
    else if (!strstr(p->advice, otherwise))
        p->advice = arena_printf(a, "%s, %s", p->advice, otherwise);
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

int infix_operator(struct infix *p, const char *name, size_t n)
{
    const struct language *lang = p->tree.lang;
    bool letter = lexical_is_greek(name, n), call = name + n < p->end && name[n] == '(';
    int op = letter && !call ? -1 : lang_find(lang, name, n);
    if (op >= 0 && letter && !lexical_is(name, n, lang->ops[op].name))
        infix_choose_between(p, name, "gamma(...) may be the gamma function or a product",
                             "Gamma(...)", "gamma*(...) for a product");
    return op;
}

/* Some write log(x, b). */
enum err_code infix_logarithm(uint32_t *out, struct infix *p, const uint32_t *args, const char *at)
{
    struct tree *t = &p->tree;
    uint32_t parts[2];
    infix_choose_between(p, at, "log(b, x) may have its base first or last", "ln(x)/ln(b)",
                         "ln(b)/ln(x) for the base x");
    enum err_code code = tree_apply(&parts[0], t, X_LN, &args[1], 1, at);
    if (!code)
        code = tree_apply(&parts[1], t, X_LN, &args[0], 1, at);
    return err_up(t->e, code ? code : tree_apply(out, t, X_DIV, parts, 2, at));
}

enum err_code infix_factorial(uint32_t *x, struct infix *p, const char *begin)
{
    struct tree *t = &p->tree;
    int op = lang_shaped(t->lang, LANG_FACTORIAL);
    if (op < 0 || !infix_at(p, '!') || (p->at + 1 < p->end && p->at[1] == '='))
        return OK;
    if (p->at + 1 < p->end && p->at[1] == '!') {
        enum err_code code = tree_fail(t, p->at, "n!! has no counterpart");
        err_hint(t->e, "write the double factorial as a product, or (n!)!");
        return code;
    }
    if (is_letter(*begin) && t->nodes[*x].arity) /* sin(x)! may be sin(x!) */
        infix_choose(p, begin);
    infix_take(p, 1);
    return err_up(t->e, tree_apply(x, t, (uint16_t)op, x, 1, begin));
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
    if (p->at == p->end && p->bar)
        return tree_fail(&p->tree, p->bar, "this bar is never closed");
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
    if (is_digit(*p->token) && is_digit(*p->at))
        err_hint(p->tree.e, "write %.*s + ... for a mixed number, %.*s*... for a product", before,
                 p->token, before, p->token);
    else if (before < 60)
        err_hint(p->tree.e, "for a product write %.*s*%.*s", before, p->token, (int)n, p->at);
    return code;
}

static bool digits_only(const char *s, size_t n)
{
    while (n && is_digit(*s))
        s++, n--;
    return n == 0;
}

/* Refuses 1_000 and 0x1F, where a name after a number would be a factor. */
static enum err_code refuse_other_number(struct infix *p)
{
    const char *number = p->token, *s = p->at;
    size_t n = identifier_length(s, p->end);
    bool base = n > 1 && s == number + 1 && *number == '0' && strchr("xXbBoO", *s) &&
                memchr("0123456789abcdefABCDEF", s[1], 22);
    if (n == 1 && strchr("jJ", *s)) {
        int digits = (int)(s - number);
        infix_choose_between(
            p, number,
            arena_printf(p->tree.a, "'%.*s%c' may be an imaginary number", digits, number, *s),
            arena_printf(p->tree.a, "%.*s*%c", digits, number, *s),
            arena_printf(p->tree.a, "%.*s*sqrt(-1) for the number", digits, number));
    }
    base |= n > 1 && strchr("dD", *s) && digits_only(s + 1, n - 1); /* 1d5 of Fortran */
    if (!base && (!n || *s != '_'))
        return OK;
    enum err_code code = tree_fail(&p->tree, number, "'%.*s' is not a number here",
                                   (int)(n < 60 ? n + (size_t)(s - number) : 60), number);
    err_hint(p->tree.e, "write decimal digits, without separators");
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
    if ((code = refuse_other_number(p)) || (code = tree_leaf(out, &p->tree, X_NUM, leaf, s)))
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

const char *infix_exponent(struct infix *p)
{
    infix_skip_space(p);
    size_t n;
    const char *power = lexical_superscript(p->tree.a, p->at, p->end, &n);
    if (!power && p->at < p->end && *p->at == '^') {
        const char *s = p->at + 1;
        bool group = s < p->end && *s == '(';
        s += group;
        const char *digits = s;
        s += s < p->end && *s == '-';
        while (s < p->end && is_digit(*s))
            s++;
        if (!group || (s < p->end && *s == ')'))
            power = number_read(p->tree.a, digits, (size_t)(s - digits));
        n = (size_t)(s + group - p->at);
    }
    if (power)
        infix_take(p, n);
    return power;
}

bool infix_fold_fraction(struct infix *p, int op, uint32_t left, uint32_t right)
{
    struct tree_node *x = &p->tree.nodes[left], *y = &p->tree.nodes[right];
    if (op != X_DIV || !x->literal || !y->literal || !number_is_integer(x->leaf) ||
        !number_is_integer(y->leaf) || y->leaf[0] == '-' || strcmp(y->leaf, "0") == 0)
        return false;
    char *quotient = number_combine(p->tree.a, '/', x->leaf, y->leaf, EXPR_MAX_DIGITS);
    if (!quotient)
        return false;
    x->leaf = quotient;
    x->literal = false; /* 1/2/3 is (1/2)/3 */
    return true;
}

const struct infix_rounding *infix_rounding(const struct infix *p)
{
    static const struct infix_rounding all[] = {{"⌊", "⌋", LANG_FLOOR}, {"⌈", "⌉", LANG_CEILING}};
    for (size_t i = 0; i < 2; i++)
        if (p->end - p->at > 3 && !memcmp(p->at, all[i].open, 3) &&
            lang_shaped(p->tree.lang, all[i].shape) >= 0)
            return &all[i];
    return NULL;
}
