/* A list of KaTeX's nodes by precedence:
 *
 *     sum     = ["-"] product { ("+" | "-") product }
 *     product = power { ["\cdot" | "\times" | "/"] power }       side by side: a product
 *     power   = primary [ "^" group ]
 *     primary = number | letter | function argument | fraction | root | brackets | derivative
 *
 * The argument of a function without parentheses extends to the next function, sign, slash or
 * bracket: \sin 2x is sin(2*x). A derivative extends to the end of the product. */
#include "ops/latex/read/latex_terms.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/latex/read/latex_derivative.h"
#include "ops/latex/read/latex_known.h"
#include "ops/latex/read/latex_names.h"
#include "ops/latex/read/latex_readings.h"
#include "ops/latex/read/latex_scripts.h"

enum { DEPTH_MAX = 150 };

static struct latex_value read_sum(struct latex_reading *r, struct latex_list *l, const char *stop);
static struct latex_value read_power(struct latex_reading *r, struct latex_list *l,
                                     const char *stop);
static struct latex_value read_product(struct latex_reading *r, struct latex_list *l,
                                       const char *stop, bool argument, bool minus);

/* Reads a group or node as a whole. */
static struct latex_value read_group(struct latex_reading *r, const json_t *node)
{
    struct latex_list l = latex_list_of(r, node);
    unsigned bars = r->bars;
    if (!latex_next(&l))
        return latex_refuse(r, node, NULL, "this group is empty");
    r->bars = 0;
    struct latex_value x = read_sum(r, &l, "");
    r->bars = bars;
    return x;
}

/* ---- primaries ---- */

/* Reads (...), |...| or \left(...\right), perhaps as the argument of a function, and moves past it;
 * *end carries its exponent. */
static struct latex_value read_brackets(const json_t **end, struct latex_reading *r,
                                        struct latex_list *l, bool argument)
{
    const json_t *open = latex_next(l), *base = latex_base(open);
    bool whole = latex_is_type(base, "leftright");
    const char *function, *sign = whole ? latex_field(base, "left") : latex_sign(open);
    const char *close = latex_closing(&function, sign);
    unsigned bars = r->bars, inner = ++r->brackets;
    struct latex_value x;
    const json_t *first = latex_item(l, l->at + 1);
    if (!whole && base != open)
        return latex_refuse(r, open, NULL, "a script follows no bracket that opens");
    if (whole && (!close || strcmp(latex_field(base, "right"), close)))
        return latex_refuse(r, open, NULL, "the brackets '%s' and '%s' cannot be read", sign,
                            latex_field(base, "right"));
    l->at++;
    if (whole) {
        first = json_array_get(latex_list_of(r, json_object_get(base, "body")).items, 0);
        x = read_group(r, json_object_get(base, "body"));
        *end = open;
    } else {
        r->bars = !strcmp(function, "abs") ? bars + 1 : 0;
        x = read_sum(r, l, close);
        r->bars = bars;
        *end = latex_next(l);
        if (x.text && !*end)
            return latex_refuse(r, open, NULL, "this bracket is never closed");
        if (x.text && strcmp(latex_sign(latex_base(*end)), close))
            return latex_unknown(r, *end);
        l->at++;
    }
    if (!latex_check_double(r, open, first, x, argument) ||
        (*function && !latex_check_bars(r, open, x)))
        return latex_none;
    if (x.text && !*function && *sign != '(' && !(argument && r->brackets > inner) &&
        !latex_note(r, open, "%s is read as a parenthesis", sign))
        return latex_none;
    int op = *function ? latex_bracket_operator(r->lang, function) : -1;
    if (*function && op < 0)
        return latex_unknown(r, open);
    if (*function)
        x = latex_apply(r, lang_token(r->lang, (unsigned)op), x);
    x.kind = LATEX_BRACKETS;
    return x;
}

static struct latex_value read_root(struct latex_reading *r, const json_t *node)
{
    const json_t *index = json_object_get(node, "index");
    struct latex_value x = read_group(r, json_object_get(node, "body"));
    if (!index || json_is_null(index) || !x.text)
        return latex_apply(r, "sqrt", x);
    const struct latex_value one = {"1", LATEX_NUMBER}, n = read_group(r, index);
    return latex_check_root(r, node, x, n) ? latex_apply2(r, "pow", x, latex_quotient(r, one, n))
                                           : latex_none;
}

/* Reads what a derivative applies to: its numerator, or the rest of the product. */
static struct latex_value read_derived(struct latex_reading *r, const json_t *node,
                                       const struct latex_derivative *d, struct latex_list *l,
                                       const char *stop)
{
    struct latex_list above = d->of;
    if (above.n > 1)
        return latex_derive(r, node, d, read_sum(r, &above, ""));
    if (!latex_next(l))
        return latex_refuse(r, node, NULL, "the expression to differentiate is missing");
    struct latex_list first = *l;
    struct latex_value x = read_product(r, l, stop, false, false);
    const char *sign = latex_sign(latex_next(l));
    bool several = x.text && l->at > l->second, bracket = x.kind == LATEX_BRACKETS && !several;
    bool goes_on = x.text && !bracket && /* what follows may be a part of it */
                   (several || latex_is_open(latex_base(latex_next(&first))) ||
                    latex_is_minus(sign) || !strcmp(sign, "+"));
    first.n = l->second;
    if (several &&
        (latex_has_derivative(r, l, l->second) ||
         (r->sympy && latex_is_divided(r, d, read_product(r, &first, "", false, false), x))))
        return latex_refuse(r, node, "bracket its expression",
                            "how far this derivative reaches is ambiguous");
    if (goes_on && !latex_usual(r, node, "the derivative is read as that of %s", latex_shown(r, x)))
        return latex_none;
    return latex_derive(r, node, d, x);
}

static struct latex_value read_fraction(struct latex_reading *r, const json_t *node,
                                        struct latex_list *l, const char *stop)
{
    struct latex_list above = latex_list_of(r, json_object_get(node, "numer"));
    struct latex_list below = latex_list_of(r, json_object_get(node, "denom"));
    struct latex_derivative d = latex_derivative_of(r, node, above, below);
    bool bar = json_is_true(json_object_get(node, "hasBarLine")),
         round = !strcmp(latex_field(node, "leftDelim"), "(") &&
                 !strcmp(latex_field(node, "rightDelim"), ")");
    int binomial = !bar && round ? lang_shaped(r->lang, LANG_BINOMIAL) : -1;
    l->at++;
    if (r->problem)
        return latex_none;
    bool own = !bar || *latex_field(node, "leftDelim") || *latex_field(node, "rightDelim");
    if (own && binomial < 0)
        return latex_unknown(r, node);
    if (d.n)
        return read_derived(r, node, &d, l, stop);
    struct latex_value x = read_group(r, json_object_get(node, "numer"));
    struct latex_value y = x.text ? read_group(r, json_object_get(node, "denom")) : latex_none;
    if (!own)
        return latex_check_divisor(r, node, y) ? latex_quotient(r, x, y) : latex_none;
    x = latex_apply2(r, lang_token(r->lang, (unsigned)binomial), x, y);
    x.kind = LATEX_BRACKETS; /* they show */
    return x;
}

/* Reads the exponent of a value. */
static struct latex_value raise(struct latex_reading *r, struct latex_value x, const json_t *node)
{
    const json_t *sup = latex_part(node, "sup");
    if (!x.text || !sup)
        return x;
    if (!latex_check_power(r, sup, x, false))
        return latex_none;
    struct latex_value exponent = read_group(r, sup);
    if (!latex_check_raised(r, node, x, exponent))
        return latex_none;
    struct latex_value power = latex_apply2(r, "pow", x, exponent);
    power.kind = x.kind == LATEX_LETTER || x.kind == LATEX_WORD ? LATEX_RAISED : LATEX_POWER;
    return power;
}

/* Reads a factorial sign after x, and its exponent. */
static struct latex_value read_factorial(struct latex_reading *r, struct latex_list *l,
                                         struct latex_value x)
{
    const json_t *node = latex_next(l);
    int op = lang_shaped(r->lang, LANG_FACTORIAL);
    if (!x.text || op < 0 || strcmp(latex_sign(latex_base(node)), "!"))
        return x;
    if (!strcmp(latex_sign(latex_base(latex_item(l, l->at + 1))), "!"))
        return latex_refuse(r, node, "write the double factorial as a product, or (n!)!",
                            "n!! has no counterpart");
    if ((x.kind == LATEX_RAISED || x.kind == LATEX_POWER || x.kind == LATEX_TERM) &&
        !latex_note(r, node, "the factorial is read as that of %s", latex_shown(r, x)))
        return latex_none;
    if (latex_part(node, "sub"))
        return latex_unknown(r, node);
    l->at++;
    x = latex_apply(r, lang_token(r->lang, (unsigned)op), x);
    x.kind = LATEX_TERM;
    return raise(r, x, node);
}

/* \overline{z}, also a mean or a closure to many. */
static struct latex_value read_conjugate(struct latex_reading *r, const json_t *node)
{
    int op = lang_find(r->lang, "conj", strlen("conj"));
    if (op < 0 || r->lang->ops[op].arity != 1)
        return latex_unknown(r, node);
    if (!latex_note(r, node, "%s is read as the complex conjugate", latex_typed(r, node)))
        return latex_none;
    return latex_apply(r, lang_token(r->lang, (unsigned)op),
                       read_group(r, json_object_get(node, "body")));
}

/* ---- functions ---- */

/* Reads the arguments of a function of two: "(x, y)", or "(y)" if x is its subscript, or of a `set`
 * "\{x, y\}"; moves past them. *end carries the exponent. More arguments are `nested`: max(x, y, z)
 * is max(max(x, y), z). */
static struct latex_value read_pair(const json_t **end, struct latex_reading *r,
                                    struct latex_list *l, struct latex_value x, bool set,
                                    const char *nested)
{
    const json_t *open = latex_next(l), *base = latex_base(open);
    bool whole = latex_is_type(base, "leftright");
    const char *sign = whole ? latex_field(base, "left") : latex_sign(open);
    const char *close = set && !strcmp(sign, "\\{") ? "\\}" : strcmp(sign, "(") ? "" : ")";
    struct latex_list body = latex_list_of(r, json_object_get(base, "body"));
    struct latex_list *in = whole ? &body : l;
    *end = open;
    l->at++;
    if (r->problem)
        return latex_none;
    if (!x.text && (x = read_sum(r, in, close)).text) {
        if (strcmp(latex_sign(latex_next(in)), ","))
            return latex_refuse(r, open, NULL, "this function has two arguments");
        in->at++;
    }
    struct latex_value y = x.text ? read_sum(r, in, close) : latex_none;
    for (; y.text && nested && !strcmp(latex_sign(latex_next(in)), ",");
         y = read_sum(r, in, close)) {
        x = latex_apply2(r, nested, x, y);
        in->at++;
    }
    const json_t *last = latex_next(in);
    if (!y.text)
        return latex_none;
    if (!whole) {
        *end = last;
        l->at++;
    }
    if (!*close || (whole ? last || strcmp(latex_field(base, "right"), close)
                          : strcmp(latex_sign(latex_base(last)), close)))
        return latex_refuse(r, open, NULL, "this bracket does not close after two arguments");
    return (struct latex_value){arena_printf(r->a, "%s %s", x.text, y.text), LATEX_TERM};
}

/* Reads the argument of a function without brackets. */
static struct latex_value read_bare(struct latex_reading *r, struct latex_list *l,
                                    const json_t *node, const char *stop)
{
    struct latex_value x = read_product(r, l, stop, true, false);
    const json_t *next = latex_next(l);
    const char *sign = latex_sign(latex_base(next));
    if (!x.text)
        return latex_none;
    if (latex_is_type(latex_base(next), "leftright") || latex_is_open(latex_base(next)) ||
        (!r->bars && !strcmp(sign, "|")))
        return latex_refuse(r, node, "bracket it",
                            "how far the argument of %s reaches is ambiguous",
                            latex_typed(r, node));
    bool factorial = !strcmp(latex_sign(latex_base(latex_item(l, l->at - 1))), "!");
    bool single =
        l->at == l->second && !factorial && x.kind != LATEX_RAISED && x.kind != LATEX_POWER;
    const json_t *factor = latex_base(latex_item(l, l->at + 1));
    bool goes_on = latex_is_over(sign) || (latex_is_times(sign) && latex_function(r, factor) < 0);
    if (!single || goes_on)
        if (!latex_note(r, node, "the argument of %s is read as %s", latex_typed(r, node),
                        latex_shown(r, x)))
            return latex_none;
    return x;
}

static struct latex_value read_function(struct latex_reading *r, struct latex_list *l, int function,
                                        const char *stop)
{
    const json_t *node = latex_next(l), *base = latex_base(node), *end = NULL;
    const json_t *sup = latex_part(node, "sup"), *sub = latex_part(node, "sub");
    const char *name = latex_typed(r, base);
    const struct latex_value self = {latex_token(r, function), LATEX_TERM};
    struct latex_value x, index = latex_none, power = latex_none;
    int based = function == X_LN && sub && strcmp(name, "\\ln") ? latex_logarithm(r, sub) : -1;
    if (based >= 0) {
        function = based;
        sub = NULL;
    }
    bool two = latex_arity(r, function) == 2,
         several = two && word_in("max min", r->lang->ops[function].name,
                                  strlen(r->lang->ops[function].name)),
         log = function == X_LN && strcmp(name, "\\ln");
    bool limits = json_is_true(json_object_get(base, "limits")) || /* \max_x f is over x */
                  json_is_true(json_object_get(base, "alwaysHandleSupSub"));
    if (log && !sub &&
        !latex_usual(r, node, "%s is read as the natural logarithm; write \\log_{10} or \\ln",
                     name))
        return latex_none;
    if (sub && ((!two && !log) || limits))
        return latex_refuse(r, node, NULL, "a subscript of %s has no meaning here", name);
    if ((sub && !(index = read_group(r, sub)).text) ||
        (sup && !latex_check_power(r, sup, self, true)))
        return latex_none;
    if (latex_small_exponent(r, sup) == -1) {
        if ((function = latex_inverse(r, node, function)) < 0)
            return latex_none;
    } else if (sup && !(power = read_group(r, sup)).text) {
        return latex_none;
    }
    l->at++;
    if (!latex_next(l))
        return latex_refuse(r, node, NULL, "%s has no argument", name);
    if (two && !latex_is_open(latex_base(latex_next(l))))
        return latex_refuse(r, node, NULL, "%s needs its arguments in brackets", name);
    x = two ? read_pair(&end, r, l, index, limits, several ? self.text : NULL)
        : latex_is_open(latex_base(latex_next(l))) ? read_brackets(&end, r, l, true)
                                                   : read_bare(r, l, node, stop);
    if (x.text && latex_part(end, "sub"))
        return latex_refuse(r, end, NULL, "a subscript here has no meaning");
    x = latex_apply(r, latex_token(r, function), x);
    if (x.text && sub && !two)
        x = latex_apply2(r, "/", x, latex_apply(r, latex_token(r, X_LN), index));
    if (x.text && power.text && latex_part(end, "sup"))
        return latex_refuse(r, end, NULL, "this function has two exponents");
    if (x.text && latex_part(end, "sup") &&
        !latex_usual(r, node, "%s(...)^n is read as the power of %s(...)", name, name))
        return latex_none;
    return power.text ? latex_apply2(r, "pow", x, power) : raise(r, x, end);
}

/* ---- by precedence ---- */

/* ?a: a variable of a pattern; its exponent is the letter's. */
static struct latex_value read_pattern(struct latex_reading *r, struct latex_list *l)
{
    enum latex_kind kind;
    const json_t *mark = latex_next(l), *node = latex_item(l, ++l->at),
                 *sub = latex_part(node, "sub");
    const char *name = latex_base(node) ? latex_name(&kind, r, latex_base(node)) : "";
    if (!*name || latex_part(mark, "sup"))
        return latex_refuse(r, mark, NULL, "a pattern variable is ? and a letter");
    struct latex_value x = {name, LATEX_TERM};
    if (sub)
        x = latex_read_name(r, latex_base(node), sub, true);
    l->at++;
    if (!x.text)
        return latex_none;
    x = (struct latex_value){arena_printf(r->a, "?%s", x.text), LATEX_TERM};
    return raise(r, x, node);
}

static struct latex_value read_power(struct latex_reading *r, struct latex_list *l,
                                     const char *stop)
{
    const json_t *node = latex_next(l), *sub, *base, *end = node;
    struct latex_value x;
    if (!(base = latex_open_base(&sub, r, node)))
        return latex_none;
    int function = latex_function(r, base);
    if (function >= 0)
        return read_function(r, l, function, stop);
    if (!strcmp(latex_sign(base), "?"))
        return read_pattern(r, l);
    struct latex_derivative d = latex_derivative_at(r, l);
    const char *bar, *sign = latex_sign(base);
    if (r->problem)
        return latex_none;
    if (d.n)
        return read_derived(r, node, &d, l, stop);
    if (latex_is_digit(base)) {
        x = latex_read_number(&end, r, l);
        sub = latex_part(end, "sub");
    } else if (latex_is_type(base, "leftright") || latex_closing(&bar, sign)) {
        x = read_brackets(&end, r, l, false);
        l->bar |= !strcmp(sign, "|");
        sub = latex_part(end, "sub");
    } else if (latex_is_type(base, "genfrac")) {
        x = read_fraction(r, base, l, stop);
    } else if (latex_is_type(base, "sqrt")) {
        x = read_root(r, base);
        l->at++;
    } else if (latex_is_type(base, "overline")) {
        x = read_conjugate(r, base);
        l->at++;
    } else {
        x = latex_read_name(r, base, sub, latex_part(node, "sup"));
        sub = NULL;
        l->at++;
    }
    if (x.text && sub)
        return latex_refuse(r, end, NULL, "a subscript here has no meaning");
    if (x.text && !latex_check_script_ends(r, end, latex_next(l)))
        return latex_none;
    return read_factorial(r, l, raise(r, x, end));
}

/* Reads the next factor; a sign may stand before it. */
static struct latex_value read_factor(struct latex_reading *r, struct latex_list *l,
                                      const char *stop)
{
    const json_t *node = latex_next(l), *next;
    bool minus = latex_is_minus(latex_sign(node));
    l->at += minus;
    if (!(next = latex_next(l)) ||
        (latex_ends_product(r, next, stop, false) && strcmp(latex_sign(next), r->bars ? "|" : "")))
        return latex_refuse(r, next ? next : latex_item(l, l->n - 1), NULL,
                            "something is missing here");
    struct latex_value x = read_power(r, l, stop);
    return minus ? latex_negate(r, x) : x;
}

static struct latex_value read_product(struct latex_reading *r, struct latex_list *l,
                                       const char *stop, bool argument, bool minus)
{
    const json_t *node = latex_next(l), *before = node;
    bool over = false;
    if (argument && latex_is_minus(latex_sign(node)))
        return latex_refuse(r, node, "bracket the argument", "a sign follows a function");
    struct latex_value x = read_factor(r, l, stop), last = x;
    size_t second = l->at;
    if (minus && x.kind == LATEX_NUMBER) {
        x = latex_negate(r, x);
        minus = false;
    }
    while (x.text && !latex_ends_product(r, node = latex_next(l), stop, argument)) {
        const char *sign = latex_sign(node);
        bool beside = !latex_is_times(sign) && !latex_is_over(sign);
        if (!latex_check_beside(r, l, last, before, over))
            return latex_none;
        over = latex_is_over(sign);
        l->at += !beside;
        before = latex_next(l) ? latex_next(l) : node;
        last = read_factor(r, l, stop);
        if (!last.text || !latex_check_product(r, before, x, last) ||
            (over && !latex_check_divisor(r, before, last)))
            return latex_none;
        x = over ? latex_quotient(r, x, last) : latex_apply2(r, "*", x, last);
    }
    l->second = second;
    return minus ? latex_negate(r, x) : x;
}

static struct latex_value read_sum(struct latex_reading *r, struct latex_list *l, const char *stop)
{
    const json_t *node = latex_next(l);
    const char *sign = latex_sign(node);
    bool minus = latex_is_minus(sign);
    if (++r->depth > DEPTH_MAX)
        return latex_refuse(r, node, NULL, "nested too deeply");
    l->at += minus || !strcmp(sign, "+");
    struct latex_value x = read_product(r, l, stop, false, minus);
    while (x.text && (node = latex_next(l))) {
        sign = latex_sign(node);
        if (!latex_is_minus(sign) && strcmp(sign, "+"))
            break;
        l->at++;
        x = latex_apply2(r, latex_is_minus(sign) ? "-" : "+", x,
                         read_product(r, l, stop, false, false));
    }
    r->depth--;
    node = latex_next(l);
    if (!x.text || *stop || !node)
        return x;
    return !strcmp(latex_sign(node), "=") ? latex_refuse(r, node, "enter the two sides separately",
                                                         "an equation is not an expression")
                                          : latex_unknown(r, node);
}

const char *latex_read_tree(struct latex_reading *r, const char *json)
{
    json_t *tree = json_loads(json, 0, NULL);
    r->lists = json_array();
    const char *text = tree && latex_check_known(r, tree) ? read_group(r, tree).text : NULL;
    if (r->problem)
        text = NULL;
    else if (!text)
        r->problem = "this LaTeX cannot be read";
    json_decref(r->lists);
    json_decref(tree);
    return text;
}
