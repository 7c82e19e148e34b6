/* Parses a list of KaTeX's nodes by precedence:
 *
 *     sum     = ["-"] product { ("+" | "-") product }
 *     product = power { ["\cdot" | "\times" | "/"] power }       side by side: a product
 *     power   = primary [ "^" group ]
 *     primary = number | letter | group | function argument | fraction | root | "|" sum "|"
 *
 * The argument of a function without parentheses extends to the next function, sign, slash or
 * bracket: \sin 2x is sin(2*x). */
#include "ops/latex/read/latex_nodes.h"

#include "base/text/words.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 150 };

static struct latex_value read_sum(struct latex_reading *r, struct latex_list *l, const char *stop);

/* Reads a group or node as a whole. */
static struct latex_value read_node(struct latex_reading *r, const json_t *node)
{
    if (!node || json_is_null(node))
        return latex_refuse(r, node, NULL, "something is missing here");
    json_t *one = json_array();
    const json_t *items = json_is_array(node)                ? node
                          : latex_has_type(node, "ordgroup") ? json_object_get(node, "body")
                          : latex_has_type(node, "styling")  ? json_object_get(node, "body")
                                                             : NULL;
    if (!items) {
        json_array_append(one, (json_t *)node);
        items = one;
    }
    struct latex_list l = latex_list_of(items);
    struct latex_value x =
        latex_next(&l) ? read_sum(r, &l, "") : latex_refuse(r, node, NULL, "this group is empty");
    json_decref(one);
    return x;
}

/* ---- primaries ---- */

/* Reads \left( ... \right), |...| or (...) and moves past it; returns its content. */
static struct latex_value read_brackets(struct latex_reading *r, struct latex_list *l,
                                        const json_t *open)
{
    const char *sign = latex_sign_of(open);
    const char *close = !strcmp(sign, "(") ? ")" : !strcmp(sign, "[") ? "]" : "|";
    if (!strcmp(sign, "\\{") || !strcmp(sign, "\\lbrace"))
        close = "\\}";
    l->at++;
    struct latex_value x = read_sum(r, l, close);
    const json_t *end = latex_next(l);
    const char *found = latex_sign_of(latex_base(end));
    bool closes = !strcmp(close, "|") ? latex_is_bar(found) : !strcmp(found, close);
    if (!x.text || !closes)
        return x.text ? latex_refuse(r, open, NULL, "this bracket is never closed") : latex_none;
    /* read_power reads an exponent of the closing bracket. */
    return latex_call(r, !strcmp(close, "|") ? "abs" : "", x);
}

static struct latex_value read_leftright(struct latex_reading *r, const json_t *node)
{
    const char *left = latex_field(node, "left");
    struct latex_value x = read_node(r, json_object_get(node, "body"));
    if (!x.text)
        return latex_none;
    if (!latex_is_bar(left) && !word_in("( [ \\{ \\lbrace", left, strlen(left)))
        return latex_refuse(r, node, NULL, "brackets of this kind have no counterpart");
    return latex_call(r, latex_is_bar(left) ? "abs" : "", x);
}

/* Whether the node has this field, such as an exponent or a subscript. */
static bool has(const json_t *node, const char *which)
{
    const json_t *x = latex_has_type(node, "supsub") ? json_object_get(node, which) : NULL;
    return x && !json_is_null(x);
}

static bool has_no_subscript(struct latex_reading *r, const json_t *node)
{
    if (has(node, "sub"))
        latex_refuse(r, node, NULL, "a subscript here has no counterpart");
    return !has(node, "sub");
}

static struct latex_value read_exponent(struct latex_reading *r, const json_t *node)
{
    const json_t *sup = json_object_get(node, "sup");
    if (!strcmp(latex_field(json_array_get(json_object_get(sup, "body"), 0), "text"), "\\prime"))
        return latex_refuse(r, node, "write \\frac{d}{dx}", "a prime has no counterpart");
    return read_node(r, sup);
}

/* {d \over dx} f, \frac{df}{dx}: returns false if the fraction is not a derivative. */
static bool is_d(const json_t *node)
{
    return !strcmp(latex_sign_of(node), "d") ||
           (latex_has_type(node, "font") &&
            !strcmp(latex_sign_of(
                        json_array_get(json_object_get(json_object_get(node, "body"), "body"), 0)),
                    "d"));
}

static struct latex_value read_product(struct latex_reading *r, struct latex_list *l,
                                       const char *stop, bool argument);

static struct latex_value read_derivative(bool *is, struct latex_reading *r, const json_t *node,
                                          struct latex_list *l, const char *stop)
{
    const json_t *numer = json_object_get(json_object_get(node, "numer"), "body");
    const json_t *denom = json_object_get(json_object_get(node, "denom"), "body");
    *is = json_array_size(denom) == 2 && is_d(json_array_get(denom, 0)) &&
          json_array_size(numer) >= 1 && is_d(json_array_get(numer, 0));
    if (!*is)
        return latex_none;
    const char *x = latex_sign_of(json_array_get(denom, 1));
    struct latex_value f;
    if (!latex_note_reading(r, node, "d/d%s is read as a derivative", x))
        return latex_none;
    if (json_array_size(numer) == 1) {
        l->at++;
        f = read_product(r, l, stop, true);
        if (f.text && latex_at_bracket(l))
            return latex_refuse(r, node, NULL,
                                "how far this derivative reaches is ambiguous; bracket it");
        l->at--; /* the caller moves past the node */
    } else {
        struct latex_list rest = latex_list_of(numer);
        rest.at = 1;
        f = read_sum(r, &rest, "");
    }
    if (!f.text)
        return latex_none;
    return (struct latex_value){
        .text = arena_printf(r->a, "d(%s, %s)", *x == '\\' ? x + 1 : x, f.text), .atom = true};
}

static struct latex_value read_root(struct latex_reading *r, const json_t *node)
{
    const json_t *index = json_object_get(node, "index");
    struct latex_value x = read_node(r, json_object_get(node, "body"));
    if (!index || json_is_null(index) || !x.text)
        return latex_call(r, "sqrt", x);
    struct latex_value n = read_node(r, index);
    if (!n.text)
        return latex_none;
    return (struct latex_value){
        .text = arena_printf(r->a, "%s^(1/%s)", latex_wrapped(r, x), latex_wrapped(r, n))};
}

/* Reads the node at the list's position, without its exponent, and moves past it. */
static struct latex_value read_primary(struct latex_reading *r, struct latex_list *l,
                                       const json_t *node, const json_t *sub, const char *stop)
{
    const char *sign = latex_sign_of(node);
    struct latex_value x;
    bool derivative = false;
    if (latex_has_type(node, "textord") && isdigit((unsigned char)*sign))
        return latex_read_number(r, l);
    if (!strcmp(sign, "(") || !strcmp(sign, "[") || !strcmp(sign, "\\{") || latex_is_bar(sign))
        return read_brackets(r, l, node); /* the caller reads the closing one */
    if (latex_has_type(node, "mathord") || latex_has_type(node, "textord") ||
        latex_has_type(node, "font") || latex_has_type(node, "text")) {
        x = latex_read_letter(r, node, sub);
    } else if (sub) {
        x = latex_refuse(r, node, NULL, "a subscript here has no counterpart");
    } else if (latex_has_type(node, "genfrac")) {
        x = read_derivative(&derivative, r, node, l, stop);
        if (!derivative)
            x = latex_binary(r, read_node(r, json_object_get(node, "numer")), "/",
                             read_node(r, json_object_get(node, "denom")));
    } else if (latex_has_type(node, "sqrt")) {
        x = read_root(r, node);
    } else if (latex_has_type(node, "leftright")) {
        x = read_leftright(r, node);
    } else if (latex_has_type(node, "ordgroup") || latex_has_type(node, "styling")) {
        x = read_node(r, node);
    } else {
        x = latex_refuse(r, node, NULL, "'%.40s' has no counterpart",
                         *sign                        ? sign
                         : latex_has_type(node, "op") ? latex_field(node, "name")
                                                      : latex_field(node, "type"));
    }
    l->at++;
    return x;
}

/* ---- functions ---- */

static bool is_minus_one(const json_t *node)
{
    const json_t *body = json_object_get(node, "body");
    return json_array_size(body) == 2 && !strcmp(latex_sign_of(json_array_get(body, 0)), "-") &&
           !strcmp(latex_sign_of(json_array_get(body, 1)), "1");
}

static struct latex_value read_power(struct latex_reading *r, struct latex_list *l,
                                     const char *stop);

/* Reads the arguments of a function of two: "(x, y)", or "(y)" if x is its subscript; moves past
 * them. Sets *power to the exponent after the bracket, if there is one. */
static struct latex_value read_pair(struct latex_value *power, struct latex_reading *r,
                                    struct latex_list *l, struct latex_value x)
{
    const json_t *open = latex_next(l), *end = open;
    const json_t *base = latex_base(open);
    struct latex_list body = latex_list_of(json_object_get(base, "body")), *in = l;
    if (latex_has_type(base, "leftright"))
        in = &body;
    l->at++;
    if (!x.text && (x = read_sum(r, in, ")")).text) {
        if (strcmp(latex_sign_of(latex_next(in)), ","))
            return latex_refuse(r, open, NULL, "this function has two arguments");
        in->at++;
    }
    struct latex_value y = x.text ? read_sum(r, in, ")") : latex_none;
    if (!y.text)
        return latex_none;
    const json_t *last = latex_next(in);
    if (in == l) {
        end = last;
        l->at++;
    }
    const char *close = latex_sign_of(latex_base(last));
    if (in == l ? strcmp(close, ")") != 0 : last != NULL)
        return latex_refuse(r, open, NULL, "this bracket does not close after two arguments");
    if (has(end, "sup") && power->text)
        return latex_refuse(r, end, NULL, "this function has two exponents");
    if (!has_no_subscript(r, end) || (has(end, "sup") && !(*power = read_exponent(r, end)).text))
        return latex_none;
    return (struct latex_value){.text = arena_printf(r->a, "%s, %s", x.text, y.text)};
}

static struct latex_value read_function(struct latex_reading *r, struct latex_list *l,
                                        const char *stop)
{
    const json_t *node = latex_next(l), *sup = json_object_get(node, "sup");
    const json_t *sub = json_object_get(node, "sub"), *next;
    const char *latex = latex_function_at(r, node), *name = latex_function_name(r, latex);
    struct latex_value x, base = latex_none, power = latex_none;
    const bool two = latex_has_two(r, name), inverse = sup && is_minus_one(sup);
    if (!strcmp(latex, "log") && !sub &&
        !latex_note_reading(r, node,
                            "\\log is read as the natural logarithm; write \\log_{10} or \\ln"))
        return latex_none;
    if (sub && !two && strcmp(latex, "log"))
        return latex_refuse(r, node, NULL, "a subscript of \\%s has no counterpart", latex);
    if (sub && !(base = read_node(r, sub)).text)
        return latex_none;
    if (inverse) {
        const char *of = latex_function_name(r, arena_printf(r->a, "arc%s", latex));
        if (!of)
            return latex_refuse(r, node, NULL, "\\%s^{-1} may be its inverse or 1/\\%s", latex,
                                latex);
        if (!latex_note_reading(r, node, "\\%s^{-1} is read as the inverse function %s", latex, of))
            return latex_none;
        name = of;
    } else if (sup && !(power = read_node(r, sup)).text) {
        return latex_none;
    }
    l->at++;
    next = latex_next(l);
    if (!next)
        return latex_refuse(r, node, NULL, "\\%s has no argument", latex);
    if (two && !latex_at_bracket(l))
        return latex_refuse(r, node, NULL, "%s needs its arguments in brackets", name);
    if (two) {
        x = read_pair(&power, r, l, base);
        base = latex_none;
    } else if (latex_at_bracket(l)) { /* sin(x)^2: a power of the value, not of the argument */
        const json_t *end = next;
        if (latex_has_type(latex_base(next), "leftright")) {
            x = read_leftright(r, latex_base(next));
        } else {
            x = read_brackets(r, l, next);
            end = latex_next(l);
        }
        l->at++;
        if (!x.text || !has_no_subscript(r, end))
            return latex_none;
        if (has(end, "sup")) {
            if (power.text)
                return latex_refuse(r, end, NULL, "this function has two exponents");
            power = read_exponent(r, end);
            if (!power.text ||
                !latex_note_reading(r, node, "\\%s(...)^n is read as the power of \\%s(...)", latex,
                                    latex))
                return latex_none;
        }
    } else {
        size_t from = l->at;
        x = read_product(r, l, stop, true);
        if (x.text && latex_at_bracket(l))
            return latex_refuse(r, node, NULL,
                                "how far the argument of \\%s reaches is ambiguous; bracket it",
                                latex);
        if (x.text && l->at > from + 1 && !x.integer && strpbrk(x.text, "*") &&
            !latex_note_reading(r, node, "\\%s without brackets is read as %s(%s)", latex, name,
                                x.text))
            return latex_none;
    }
    x = latex_call(r, name, x);
    if (base.text && x.text)
        x = (struct latex_value){.text = arena_printf(r->a, "%s/ln(%s)", x.text, base.text)};
    return power.text ? latex_binary(r, x, "^", power) : x;
}

/* ---- by precedence ---- */

/* Reads a base with its exponent. Digits before the one that carries the exponent belong to the
 * base. */
static struct latex_value read_power(struct latex_reading *r, struct latex_list *l,
                                     const char *stop)
{
    const json_t *node = latex_next(l), *base = latex_base(node), *carrier = node;
    struct latex_value x;
    if (*latex_function_at(r, node))
        return read_function(r, l, stop);
    if (!strcmp(latex_sign_of(node), "?")) { /* ?a^2: a pattern variable */
        l->at++;
        if (!(node = latex_next(l)))
            return latex_refuse(r, carrier, NULL, "a pattern variable is ? and a letter");
        r->pattern = true;
        x = read_power(r, l, stop);
        r->pattern = false;
        if (x.text && strchr("(-0123456789", *x.text))
            return latex_refuse(r, carrier, NULL, "a pattern variable is ? and a letter");
        x.letter = false;
        x.text = x.text ? arena_printf(r->a, "?%s", x.text) : NULL;
        return x;
    }
    if (!base || json_is_null(base))
        return latex_refuse(r, node, NULL, "an exponent without a base");
    if (has(node, "sup") && isdigit((unsigned char)*latex_sign_of(base))) {
        x = (struct latex_value){latex_sign_of(base), true, true, false};
        l->at++;
    } else {
        x = read_primary(r, l, base, has(node, "sub") ? json_object_get(node, "sub") : NULL, stop);
        if (x.text && node == base && !latex_has_type(base, "leftright") &&
            (latex_begins_bracket(base) || latex_is_bar(latex_sign_of(base)))) {
            carrier = latex_next(l); /* at the closing bracket */
            l->at++;
            if (!has_no_subscript(r, carrier))
                return latex_none;
        }
        const json_t *digit = x.integer ? latex_next(l) : NULL; /* 12^2: the exponent is on 2 */
        if (digit && latex_has_type(digit, "supsub") &&
            isdigit((unsigned char)*latex_sign_of(json_object_get(digit, "base"))) &&
            latex_place_of(json_array_get(l->items, l->at - 1), 1) == latex_place_of(digit, 0)) {
            x.text =
                arena_printf(r->a, "%s%s", x.text, latex_sign_of(json_object_get(digit, "base")));
            carrier = digit;
            l->at++;
        }
    }
    return x.text && has(carrier, "sup") ? latex_binary(r, x, "^", read_exponent(r, carrier)) : x;
}

static bool is_minus(const char *sign)
{
    return !strcmp(sign, "-") || !strcmp(sign, "−");
}

static bool ends_product(struct latex_reading *r, const json_t *node, const char *stop,
                         bool argument)
{
    const json_t *base = latex_base(node);
    const char *sign = latex_sign_of(base);
    if (!node || !strcmp(latex_field(node, "family"), "rel") || is_minus(sign) ||
        word_in("+ ) ] \\} ,", sign, strlen(sign)))
        return true;
    if (*stop && (!strcmp(sign, stop) || (!strcmp(stop, "|") && latex_is_bar(sign))))
        return true;
    return argument && (*latex_function_at(r, node) || latex_is_times(sign) ||
                        latex_is_over(sign) || latex_begins_bracket(base) || latex_is_bar(sign));
}

static struct latex_value read_product(struct latex_reading *r, struct latex_list *l,
                                       const char *stop, bool argument)
{
    struct latex_value x, last;
    const json_t *node = latex_next(l), *before = node;
    bool over = false;
    if (!node || ends_product(r, node, stop, false))
        return latex_refuse(r, node, NULL, "something is missing here");
    x = last = read_power(r, l, stop);
    while (x.text && !ends_product(r, node = latex_next(l), stop, argument)) {
        const char *sign = latex_sign_of(node);
        bool side_by_side = !latex_is_times(sign) && !latex_is_over(sign);
        if (side_by_side && over)
            return latex_refuse(r, node, "write \\frac{a}{b} c, or \\frac{a}{b c}",
                                "a/b c may be (a/b)*c or a/(b*c)");
        const json_t *base = latex_base(node);
        if (side_by_side && last.letter && latex_begins_bracket(base))
            return latex_refuse(r, before,
                                arena_printf(r->a,
                                             "for the product write %s \\cdot (...); "
                                             "functions that are not declared cannot be read",
                                             last.text),
                                "%s(...) may be a product or a function", last.text);
        if (side_by_side && last.integer &&
            (latex_has_type(base, "genfrac") || isdigit((unsigned char)*latex_sign_of(base))))
            return latex_refuse(r, node, "write \\cdot or one number",
                                "two numbers side by side may be a product or a mixed number");
        if (side_by_side && last.letter && latex_has_type(node, "supsub") &&
            latex_has_type(base, "mathord") &&
            !latex_note_reading(r, node, "the exponent in %s%s^n belongs to %s alone", last.text,
                                latex_sign_of(base), latex_sign_of(base)))
            return latex_none;
        if (side_by_side && last.letter && latex_has_type(node, "mathord") &&
            !latex_note_reading(r, node, "%s %s is read as the product %s*%s", last.text,
                                latex_sign_of(base), last.text,
                                *latex_sign_of(base) == '\\' ? latex_sign_of(base) + 1
                                                             : latex_sign_of(base)))
            return latex_none;
        over = latex_is_over(sign);
        if (!side_by_side)
            l->at++;
        before = latex_next(l);
        if (!before || (ends_product(r, before, stop, false) && strcmp(latex_sign_of(before), "-")))
            return latex_refuse(r, node, NULL, "something is missing after this sign");
        if (!strcmp(latex_sign_of(before), "-")) {
            l->at++;
            last = read_power(r, l, stop);
            last = last.text ? (struct latex_value){.text = arena_printf(r->a, "-%s",
                                                                         latex_wrapped(r, last))}
                             : latex_none;
        } else {
            last = read_power(r, l, stop);
        }
        x = latex_binary(r, x, over ? "/" : "*", last);
    }
    return x;
}

static struct latex_value read_sum(struct latex_reading *r, struct latex_list *l, const char *stop)
{
    const json_t *node = latex_next(l);
    const char *sign = latex_sign_of(node);
    bool minus = is_minus(sign);
    if (++r->depth > DEPTH_MAX)
        return latex_refuse(r, node, NULL, "nested too deeply");
    if (minus || !strcmp(sign, "+"))
        l->at++;
    struct latex_value x = read_product(r, l, stop, false);
    if (minus && x.text && strspn(x.text, "0123456789/") == strlen(x.text))
        x.text = arena_printf(r->a, "-%s", x.text), x.atom = x.integer = false;
    else if (minus && x.text)
        x = (struct latex_value){.text = arena_printf(r->a, "-%s", latex_wrapped(r, x))};
    while (x.text && (node = latex_next(l))) {
        sign = latex_sign_of(node);
        minus = is_minus(sign);
        if (!minus && strcmp(sign, "+"))
            break;
        l->at++;
        x = latex_binary(r, x, minus ? " - " : " + ", read_product(r, l, stop, false));
    }
    r->depth--;
    node = latex_next(l);
    if (x.text && !*stop && node) {
        sign = latex_sign_of(node);
        return !strcmp(sign, "=") ? latex_refuse(r, node, "enter the two sides separately",
                                                 "an equation is not an expression")
                                  : latex_refuse(r, node, NULL, "unexpected '%.40s'",
                                                 *sign ? sign : latex_field(node, "type"));
    }
    return x;
}

const char *latex_infix(struct latex_refusal *why, struct arena *a, const struct language *lang,
                        const char *json, struct buf *notes)
{
    struct latex_reading r = {.a = a, .lang = lang, .notes = notes, .why = why};
    json_error_t e;
    json_t *tree = json_loads(json, 0, &e);
    *why = (struct latex_refusal){SIZE_MAX, NULL, NULL};
    const char *text = tree ? read_node(&r, tree).text : NULL;
    if (!text && !why->message)
        why->message = "this LaTeX cannot be read";
    json_decref(tree);
    return text;
}
