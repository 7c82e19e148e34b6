/* The infix syntax, by precedence climbing over the language's table.
 *
 *     expression = operand { [infix] operand | superscript }    ^ is right-associative, the others
 * left; side by side is a product operand    = "-" operand | "~" operand | primary ["!"]   binds
 * looser than ^, tighter than * primary    = number | symbol | "?" name | function [exponent]
 * argument | "(" expression ")" | "|" expression "|" | root primary | "d/d" name operand argument
 * = "(" expression { "," expression } ")" | power { power }     sin 2x is sin(2*x)
 *
 * A quotient of two integer literals is one number: 3/2 is the rational, (3)/2 the quotient.
 * Ambiguous input is never resolved silently: the usual reading is part of the error, or is used
 * and reported. */
#include "base/text/words.h"
#include "ops/expr/syntax/infix_name.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"

#include <string.h>

static enum err_code expression(uint32_t *out, struct infix *p, unsigned precedence);
static enum err_code operand(uint32_t *out, struct infix *p);

/* Parses an expression up to `close`; the opening bracket is already consumed. */
static enum err_code within(uint32_t *out, struct infix *p, const char *open, const char *close)
{
    unsigned bars = p->bars;
    size_t n = strlen(close);
    bool is_bar = *close == '|';
    const char *bar = p->bar;
    p->bars = is_bar ? bars + 1 : 0;
    p->bar = is_bar ? open : NULL;
    enum err_code code = expression(out, p, 0);
    p->bars = bars;
    p->bar = bar;
    if (code)
        return err_up(p->tree.e, code);
    if (infix_at(p, *close) && (size_t)(p->end - p->at) >= n && !memcmp(p->at, close, n)) {
        infix_take(p, n);
        p->closed_bar |= is_bar;
        p->group = open;
        p->group_end = p->token_end;
        p->token = p->token_end - open < 60 ? open : p->token;
        p->tree.nodes[*out].literal = false;
        return OK;
    }
    if (p->at == p->end)
        return tree_fail(&p->tree, open, "this %s is never closed",
                         is_bar   ? "bar"
                         : n == 1 ? "parenthesis"
                                  : "bracket");
    return err_up(p->tree.e, infix_fail_trailing(p));
}

/* op -1 denotes exp. */
static enum err_code apply(uint32_t *out, struct infix *p, int op, uint32_t *args, unsigned n,
                           const char *at)
{
    struct tree *t = &p->tree;
    return err_up(t->e, op < 0 ? tree_exponential(out, t, args[0], at)
                               : tree_apply(out, t, (uint16_t)op, args, n, at));
}

/* Parses name "(" arguments ")"; the name is already consumed. */
static enum err_code call(uint32_t *out, struct infix *p, int op, const char *name, size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    const char *open = p->at;
    uint32_t args[LANG_MAX_ARITY + 1];
    unsigned arity = op < 0 ? 1 : t->lang->ops[op].arity, given = 0, bars = p->bars;
    bool decimal = false; /* 0,5 */
    infix_take(p, 1);
    p->bars = 0;
    if (infix_at(p, ')') && arity == 0) {
        infix_take(p, 1);
        p->bars = bars;
        return err_up(p->tree.e, apply(out, p, op, args, 0, name));
    }
    for (;;) {
        infix_skip_space(p);
        const char *argument = p->at;
        if ((code = expression(&args[given < arity ? given : arity], p, 0)))
            return err_up(p->tree.e, code);
        given++;
        if (op == X_D && given == 1 && (code = tree_check_d(t, args[0], argument)))
            return err_up(p->tree.e, code);
        if (!infix_at(p, ','))
            break;
        if (given == 2 && op >= X_DECLARED && word_in("max min", t->lang->ops[op].name, 3)) {
            if ((code = apply(&args[0], p, op, args, arity, name))) /* max(max(x, y), z) */
                return err_up(t->e, code);
            given = 1;
        }
        infix_take(p, 1);
        decimal |= is_digit(p->token[-1]) && p->at < p->end && is_digit(*p->at);
    }
    p->bars = bars;
    if (!infix_at(p, ')')) {
        if (p->at == p->end)
            return tree_fail(&p->tree, open, "this parenthesis is never closed");
        return err_up(p->tree.e, infix_fail_trailing(p));
    }
    infix_take(p, 1);
    p->token = p->token_end - name < 60 ? name : p->token;
    if (op == X_LN && given == 2 && lexical_is(name, n, "log"))
        return err_up(t->e, infix_logarithm(out, p, args, name));
    if (given != arity) {
        code = tree_fail_arity(t, name, n, arity, given);
        if (decimal)
            err_hint(t->e, "write 0.5 with a point");
        else if (op == X_D)
            err_hint(t->e, "d(x, f) is the derivative of f by x; for a product write d*(...)");
        return code;
    }
    return err_up(p->tree.e, apply(out, p, op, args, arity, name));
}

/* Whether a factor of a product by juxtaposition can begin here. */
static bool at_factor(struct infix *p)
{
    infix_skip_space(p);
    if (p->at == p->end || !lang_has(p->tree.lang, X_MUL))
        return false;
    const char *s = p->at;
    return is_letter(*s) || *s == '(' || *s == '?' || *s == '"' || (*s == '|' && !p->bars) ||
           lexical_word(s, p->end).text || infix_rounding(p);
}

static int function_at(struct infix *p)
{
    int op = infix_operator(p, p->at, identifier_length(p->at, p->end));
    return op >= 0 && p->tree.lang->ops[op].arity ? op : -1;
}

static enum err_code multiply(uint32_t *x, struct infix *p, uint32_t y, const char *at)
{
    uint32_t args[] = {*x, y};
    return err_up(p->tree.e, tree_apply(x, &p->tree, X_MUL, args, 2, at));
}

/* Parses the argument of a function without parentheses: adjacent factors up to the next function,
 * bracket or sign. */
static enum err_code bare_argument(uint32_t *out, struct infix *p, const char *function)
{
    enum err_code code;
    infix_skip_space(p);
    bool bar = infix_at(p, '|');
    if ((code = expression(out, p, LANG_PRECEDENCE_MINUS + 1)))
        return err_up(p->tree.e, code);
    if (!bar && p->tree.nodes[*out].arity)
        infix_choose(p, function);
    while (at_factor(p) && *p->at != '(' && *p->at != '|' && function_at(p) < 0) {
        const char *at = p->at;
        uint32_t factor;
        infix_choose(p, function);
        if ((code = expression(&factor, p, LANG_PRECEDENCE_MINUS + 1)) ||
            (code = multiply(out, p, factor, at)))
            return err_up(p->tree.e, code);
    }
    if (at_factor(p) && function_at(p) < 0) {
        code = tree_fail(&p->tree, function, "how far this argument reaches is ambiguous");
        int n = (int)identifier_length(function, p->end);
        err_hint(p->tree.e, "write %.*s(...)", n, function);
        return code;
    }
    size_t n;
    int op = infix_peek(p, &n);
    if (op == X_DIV || op == X_MUL)
        infix_choose(p, function);
    return OK;
}

/* Parses sin(x), sin x, sin^2(x); the name is already consumed. */
static enum err_code function(uint32_t *out, struct infix *p, int op, const char *name, size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    uint32_t args[2] = {0};
    const char *power = NULL;
    if (infix_at(p, '('))
        return err_up(t->e, call(out, p, op, name, n));
    if (op < 0 || (t->lang->ops[op].arity == 1 && lang_has(t->lang, X_POW)))
        power = infix_exponent(p);
    if (power && strcmp(power, "-1") == 0) {
        infix_choose(p, name);
        if (op >= 0 && t->lang->ops[op].inverse >= 0) {
            op = t->lang->ops[op].inverse;
            power = NULL;
        }
    }
    bool bare = (op < 0 || t->lang->ops[op].arity == 1) &&
                (at_factor(p) || (p->at < p->end && is_digit(*p->at)));
    if (infix_at(p, '(')) {
        code = call(&args[0], p, op, name, n);
    } else if (bare) {
        code = bare_argument(&args[0], p, name);
        if (!code)
            code = apply(&args[0], p, op, args, 1, name);
    } else if (p->at < p->end && (unsigned char)*p->at >= 0x80) {
        code = infix_fail_unexpected(p);
    } else {
        code = tree_fail(t, name, "'%.*s' is a function and needs (", (int)n, name);
        err_hint(t->e, "write %.*s(...)", (int)n, name);
    }
    *out = args[0];
    if (code || !power)
        return err_up(t->e, code);
    if ((code = tree_leaf(&args[1], t, X_NUM, power, name)))
        return err_up(t->e, code);
    return err_up(t->e, tree_apply(out, t, X_POW, args, 2, name));
}

/* Parses d/dx f, including the d; f extends as far as a power. */
static enum err_code derivative(uint32_t *out, struct infix *p, const char *by, const char *x,
                                size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    const char *d = p->at;
    uint32_t args[2];
    size_t n_by = strlen(by);
    if (n_by > EXPR_MAX_NAME ||
        !(variable_is_plain(t->lang, by, n_by) || lang_has_name(t->lang, by, n_by))) {
        code = tree_fail(t, x, "d/d needs the name of a variable");
        err_hint(t->e, "d(x, f) is the derivative of f by x");
        return code;
    }
    if ((code = tree_leaf(&args[0], t, X_SYM, by, x)))
        return err_up(t->e, code);
    p->at = x;
    infix_take(p, n);
    bool bracket = infix_at(p, '(');
    const char *begin = p->at;
    if ((code = expression(&args[1], p, LANG_PRECEDENCE_MINUS)))
        return err_up(t->e, code);
    bool group = bracket && p->group == begin && p->group_end == p->token_end;
    size_t sign;
    int op = infix_peek(p, &sign);
    bool times = op == X_MUL || op == X_DIV;
    if (group ? times : bracket || op == X_ADD || op == X_SUB) /* which may be a part of it */
        infix_choose(p, d);
    if (at_factor(p) || (!group && times)) {
        code = tree_fail(t, d, "how far this derivative reaches is ambiguous");
        err_hint(t->e, "write d(%s, ...)", by);
        return code;
    }
    if (tree_has_variable(t, args[1], NULL) && !tree_has_variable(t, args[1], by)) {
        code = tree_fail(t, d, "what is differentiated here does not contain %s", by);
        err_hint(t->e, "write d(%s, ...) if its variables are constants", by);
        return code;
    }
    return err_up(t->e, tree_apply(out, t, X_D, args, 2, d));
}

static enum err_code name(uint32_t *out, struct infix *p)
{
    struct tree *t = &p->tree;
    const char *s = p->at, *x, *by;
    size_t n = identifier_length(s, p->end), n_x;
    bool letter = s < p->letters_end;
    int op = letter ? -1 : infix_operator(p, s, n);
    bool exponential = n == 3 && memcmp(s, "exp", 3) == 0 && lang_has(t->lang, X_POW);
    if (op == X_D && (by = infix_derivative(p, &x, &n_x)))
        return err_up(p->tree.e, derivative(out, p, by, x, n_x));
    if (letter || (op < 0 && !exponential))
        return err_up(t->e, infix_symbol(out, p, s, n));
    infix_take(p, n);
    bool bracket = infix_at(p, '(');
    if (op == X_D && !bracket)
        return err_up(t->e, tree_leaf(out, t, X_SYM, variable_leaf(t->a, t->lang, s, n), s));
    if (op >= 0 && t->lang->ops[op].arity == 0 && !bracket)
        return err_up(t->e, tree_apply(out, t, (uint16_t)op, NULL, 0, s));
    if (op == X_LN && p->prompt && lexical_is(s, n, "log"))
        infix_choose_between(p, s, NULL, "ln(...)", "log10(...) for the common logarithm");
    return err_up(t->e, function(out, p, op, s, n));
}

/* A Greek letter with an index, or a root of the single operand that follows. */
static enum err_code typed_word(uint32_t *out, struct infix *p, const char *text, const char *at)
{
    enum err_code code;
    size_t n = p->at < p->end && *p->at == '_' ? identifier_length(p->at, p->end) : 0;
    if (lexical_is_greek(text, strlen(text))) {
        text = arena_printf(p->tree.a, "%s%.*s", text, (int)n, p->at);
        p->token_end = p->at += n;
        int op = lang_find(p->tree.lang, text, strlen(text));
        if (op >= 0 && p->at < p->end && *p->at == '(' &&
            strcmp(text, p->tree.lang->ops[op].name) == 0)
            return err_up(p->tree.e, function(out, p, op, text, strlen(text)));
        return err_up(p->tree.e, infix_greek(out, p, text, at));
    }
    bool bracket = infix_at(p, '(') || infix_at(p, '|'), cube = *text == 'c';
    const char *begin = p->at;
    uint16_t op = (uint16_t)lang_find(p->tree.lang, text, strlen(text));
    if ((code = operand(out, p)) || (code = tree_apply(out, &p->tree, op, out, 1, at)))
        return err_up(p->tree.e, code);
    if (cube && memchr(begin, '-', (size_t)(p->token_end - begin)))
        infix_choose_between(p, at, "a cube root of a negative number is complex here",
                             "cbrt(...) for it", "-cbrt(...) for the real root");
    if (!bracket && (at_factor(p) || p->token_end[-1] == '!' || infix_at(p, '^') ||
                     lexical_superscript(p->tree.a, p->at, p->end, &n)))
        infix_choose(p, at);
    return OK;
}

static enum err_code primary(uint32_t *out, struct infix *p)
{
    enum err_code code;
    if (p->at == p->end)
        return err_up(p->tree.e, infix_fail_unexpected(p));
    const char *s = p->at;
    size_t typed = 1;
    if ((*s == '-' || lexical_sign(s, p->end, &typed) == '-') && lang_has(p->tree.lang, X_MUL)) {
        infix_take(p, typed);
        uint32_t x;
        if ((code = expression(&x, p, LANG_PRECEDENCE_MINUS)))
            return err_up(p->tree.e, code);
        return err_up(p->tree.e, tree_negate(out, &p->tree, x, s));
    }
    if (*s == '~' && lang_is(p->tree.lang, &lang_boolean)) {
        infix_take(p, 1);
        if (!(code = expression(out, p, UINT8_MAX)))
            code = tree_apply(out, &p->tree, X_NOT, out, 1, s);
        return err_up(p->tree.e, code);
    }
    if (is_digit(*s))
        return err_up(p->tree.e, infix_number(out, p));
    bool bar = *s == '|' && lang_has(p->tree.lang, X_ABS);
    const struct infix_rounding *rounding = infix_rounding(p);
    if (rounding) {
        infix_take(p, strlen(rounding->open));
        if (!(code = within(out, p, s, rounding->close)))
            code = tree_apply(out, &p->tree, (uint16_t)lang_shaped(p->tree.lang, rounding->shape),
                              out, 1, s);
        return err_up(p->tree.e, code);
    }
    if (*s == '(' || bar) {
        infix_take(p, 1);
        if ((code = within(out, p, s, bar ? "|" : ")")) || !bar)
            return err_up(p->tree.e, code);
        if (p->tree.nodes[*out].op == X_ABS && s[1] == '|' && p->token_end[-2] == '|')
            infix_choose_between(p, s, "double bars may be a norm", "abs(...)", NULL);
        return err_up(p->tree.e, tree_apply(out, &p->tree, X_ABS, out, 1, s));
    }
    if (*s == '?')
        return err_up(p->tree.e, infix_pattern_variable(out, p));
    if (*s == '"')
        return err_up(p->tree.e, infix_quoted(out, p));
    if (is_letter(*s))
        return err_up(p->tree.e, name(out, p));
    struct lexical_word word = lexical_word(s, p->end);
    if (!word.text || !lang_has(p->tree.lang, X_SQRT) ||
        (!strcmp(word.text, "cbrt") && lang_find(p->tree.lang, word.text, 4) < 0))
        return err_up(p->tree.e, infix_fail_unexpected(p));
    infix_take(p, word.n);
    return err_up(p->tree.e, typed_word(out, p, word.text, s));
}

static enum err_code operand(uint32_t *out, struct infix *p)
{
    infix_skip_space(p);
    const char *begin = p->at;
    enum err_code code = primary(out, p);
    return err_up(p->tree.e, code ? code : infix_factorial(out, p, begin));
}

/* Parses a factor without a sign before it: x y, 2(x + 1). `before` is the preceding operator, or
 * -1. */
static enum err_code side_by_side(uint32_t *x, struct infix *p, int before)
{
    enum err_code code;
    const char *at = p->at;
    uint32_t factor;
    if (before == X_DIV) {
        code = tree_fail(&p->tree, at, "this may belong to the quotient or to its denominator");
        err_hint(p->tree.e, "write (a/b)*c or a/(b*c)");
        return code;
    }
    if (*at == '|' && p->closed_bar)
        infix_choose(p, at);
    if (at == p->power_end && *at == '(' && (code = infix_check_power(p, at)))
        return err_up(p->tree.e, code);
    if (at == p->power_end && (at[-1] != ')' || *at == '('))
        infix_choose(p, at);
    if (lexical_is(p->token, (size_t)(p->token_end - p->token), "d") && *at != '(')
        return err_up(p->tree.e, infix_fail_differential(p, p->token, 1));
    infix_check_applied(p);
    infix_check_functions(p, at);
    if ((code = expression(&factor, p, LANG_PRECEDENCE_MINUS)))
        return err_up(p->tree.e, code);
    return err_up(p->tree.e, multiply(x, p, factor, at));
}

static enum err_code expression(uint32_t *out, struct infix *p, unsigned precedence)
{
    enum err_code code;
    if ((code = tree_enter(&p->tree, p->at)))
        return err_up(p->tree.e, code);
    const struct language *lang = p->tree.lang;
    uint32_t args[2];
    int before = -1;
    bool raised = false; /* by a superscript */
    if ((code = operand(&args[0], p)))
        return err_up(p->tree.e, code);
    for (;;) {
        size_t n;
        int op = infix_peek(p, &n);
        const char *sign = p->at, *power = NULL;
        if (op < 0 && at_factor(p) && lang->ops[X_MUL].precedence >= precedence) {
            if ((code = side_by_side(&args[0], p, before)))
                return err_up(p->tree.e, code);
            continue;
        }
        if (op < 0 && lang_has(lang, X_POW) &&
            (power = lexical_superscript(p->tree.a, sign, p->end, &n)))
            op = X_POW;
        if (op < 0 || lang->ops[op].precedence < precedence)
            break;
        infix_take(p, n);
        if (raised && op == X_POW)
            infix_choose(p, sign);
        raised = power != NULL;
        if ((code = power
                        ? tree_leaf(&args[1], &p->tree, X_NUM, power, sign)
                        : expression(&args[1], p, lang->ops[op].precedence + !lang->ops[op].right)))
            return err_up(p->tree.e, code);
        if (op == X_POW)
            infix_check_marks(p, args[0], args[1], sign);
        if (!infix_fold_fraction(p, op, args[0], args[1]) &&
            (code = tree_apply(&args[0], &p->tree, (uint16_t)op, args, 2, sign)))
            return err_up(p->tree.e, code);
        if (op == X_POW && p->token_end[-1] == '!')
            infix_choose(p, sign);
        before = power ? -1 : op;
        if (before == X_POW) {
            p->power = args[0];
            p->power_end = p->token_end;
        }
    }
    *out = args[0];
    p->tree.depth--;
    return OK;
}

/* With `notes`, ambiguous input has its usual reading. */
static enum err_code read_infix(struct expr *out, struct arena *a, const struct language *lang,
                                const struct source_text *source, size_t at, size_t len,
                                bool patterns, struct buf *notes, struct err *e)
{
    struct infix p = {
        .tree = {.a = a, .lang = lang, .source = source, .e = e},
        .at = source->text + at,
        .end = source->text + at + len,
        .patterns = patterns,
        .prompt = notes != NULL,
    };
    uint32_t root = 0;
    enum err_code code = err_up(e, expression(&root, &p, 0));
    if (code == OK) {
        infix_skip_space(&p);
        if (p.at < p.end)
            code = *p.at == ')' ? tree_fail(&p.tree, p.at, "this ')' has no matching '('")
                                : err_up(e, infix_fail_trailing(&p));
    }
    if (code == OK)
        tree_lay_out(out, &p.tree, root);
    if (code == OK && p.choice) {
        struct buf read = {0};
        expr_write_infix(&read, out);
        if (notes) {
            buf_printf(notes, "read as %s%s%s\n", read.data, p.advice ? "; write " : "",
                       p.advice ? p.advice : "");
        } else if (p.choice_message) {
            code = tree_fail(&p.tree, p.choice, "%s", p.choice_message);
            err_hint(e, "%s", p.choice_hint);
        } else {
            code = tree_fail(&p.tree, p.choice, "this has several readings");
            err_hint(e, "the usual one is %s", read.data);
        }
        buf_free(&read);
    }
    tree_free(&p.tree);
    return code;
}

enum err_code expr_parse_infix(struct expr *out, struct arena *a, const struct language *lang,
                               const struct source_text *source, size_t at, size_t len,
                               bool patterns, struct err *e)
{
    return err_up(e, read_infix(out, a, lang, source, at, len, patterns, NULL, e));
}

enum err_code expr_read_infix(struct expr *out, struct arena *a, const struct language *lang,
                              const struct source_text *source, size_t at, size_t len,
                              struct buf *notes, struct err *e)
{
    return err_up(e, read_infix(out, a, lang, source, at, len, false, notes, e));
}
