#include "ops/latex/read/latex_nodes.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *latex_field(const json_t *node, const char *key)
{
    const char *s = json_string_value(json_object_get(node, key));
    return s ? s : "";
}

bool latex_has_type(const json_t *node, const char *type)
{
    return !strcmp(latex_field(node, "type"), type);
}

size_t latex_place_of(const json_t *node, int end)
{
    const json_t *loc = json_object_get(node, "loc"), *base = json_object_get(node, "base");
    if (loc)
        return (size_t)json_integer_value(json_array_get(loc, (size_t)end));
    return base ? latex_place_of(base, end) : SIZE_MAX;
}

struct latex_value latex_refuse(struct latex_reading *r, const json_t *node, const char *hint,
                                const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!r->why->message)
        *r->why = (struct latex_refusal){latex_place_of(node, 0), arena_strdup(r->a, text), hint};
    return latex_none;
}

bool latex_note_reading(struct latex_reading *r, const json_t *node, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!r->notes) {
        latex_refuse(r, node, "write it without LaTeX, or with explicit signs", "ambiguous: %s",
                     text);
        return false;
    }
    buf_printf(r->notes, "%s\n", text);
    return true;
}

static bool is_nothing(const json_t *node)
{
    const char *type = latex_field(node, "type");
    return word_in("spacing kern cr internal", type, strlen(type));
}

const json_t *latex_next(struct latex_list *l)
{
    while (l->at < l->n && is_nothing(json_array_get(l->items, l->at)))
        l->at++;
    return l->at < l->n ? json_array_get(l->items, l->at) : NULL;
}

const json_t *latex_base(const json_t *node)
{
    return node && latex_has_type(node, "supsub") ? json_object_get(node, "base") : node;
}

struct latex_list latex_list_of(const json_t *items)
{
    return (struct latex_list){items, 0, json_array_size(items)};
}

const char *latex_sign_of(const json_t *node)
{
    if (latex_has_type(node, "atom") || latex_has_type(node, "textord") ||
        latex_has_type(node, "mathord"))
        return latex_field(node, "text");
    if (latex_has_type(node, "delimsizing"))
        return latex_field(node, "delim");
    return "";
}

bool latex_is_times(const char *s)
{
    return word_in("* \\cdot \\times \\ast ⋅ × ∗", s, strlen(s));
}

bool latex_is_over(const char *s)
{
    return word_in("/ \\div ÷", s, strlen(s));
}

bool latex_is_bar(const char *s)
{
    return word_in("| \\vert \\lvert \\rvert ∣", s, strlen(s));
}

/* ---- names ---- */

/* Appends the letters and digits of a node that is a name: \mathrm{ab}, x_{12},
 * \operatorname{sech}. */
static bool plain_name(struct buf *out, const json_t *node)
{
    if (json_is_array(node)) {
        for (size_t i = 0; i < json_array_size(node); i++)
            if (!plain_name(out, json_array_get(node, i)))
                return false;
        return true;
    }
    const json_t *body = json_object_get(node, "body");
    if (body)
        return plain_name(out, body);
    const char *s = latex_sign_of(node);
    const struct lexical_word letter = lexical_word(s, s + strlen(s));
    if (*s == '\\')
        s++;
    else if (letter.n == 2) /* Greek */
        s = letter.text;
    for (; *s; s++) {
        if (!isalnum((unsigned char)*s) || out->len > 60)
            return false;
        buf_putc(out, *s);
    }
    return out->len > 0;
}

const char *latex_name_of(struct latex_reading *r, const json_t *node)
{
    struct buf b = {0};
    const char *name = plain_name(&b, node) ? arena_strndup(r->a, b.data, b.len) : "";
    buf_free(&b);
    return name;
}

/* Returns the declared function of this LaTeX name: erf for \operatorname{erf}, Gamma for
 * \Gamma. */
static const char *declared(const struct language *lang, const char *name)
{
    size_t n = strlen(name);
    for (unsigned op = X_DECLARED; lang && op < lang->n_ops; op++) {
        const char *latex = lang->ops[op].latex, *brace = strchr(latex, '{');
        if (!lang->ops[op].token || lang->ops[op].arity == 0)
            continue;
        latex = brace ? brace + 1 : latex + (*latex == '\\');
        if (strcmp(lang->ops[op].name, name) == 0 ||
            (strcspn(latex, "}") == n && strncmp(latex, name, n) == 0))
            return lang->ops[op].name;
    }
    return NULL;
}

const char *latex_function_name(const struct latex_reading *r, const char *name)
{
    static const char *const names[][2] = {
        {"sin", "sin"},       {"cos", "cos"},       {"tan", "tan"},       {"cot", "cot"},
        {"sec", "sec"},       {"csc", "csc"},       {"arcsin", "asin"},   {"arccos", "acos"},
        {"arctan", "atan"},   {"arccot", "acot"},   {"arcsec", "asec"},   {"arccsc", "acsc"},
        {"sinh", "sinh"},     {"cosh", "cosh"},     {"tanh", "tanh"},     {"coth", "coth"},
        {"sech", "sech"},     {"csch", "csch"},     {"arsinh", "asinh"},  {"arcosh", "acosh"},
        {"artanh", "atanh"},  {"arcoth", "acoth"},  {"arsech", "asech"},  {"arcsch", "acsch"},
        {"arcsinh", "asinh"}, {"arccosh", "acosh"}, {"arctanh", "atanh"}, {"asinh", "asinh"},
        {"acosh", "acosh"},   {"atanh", "atanh"},   {"ln", "ln"},         {"log", "ln"},
        {"exp", "exp"},       {"tg", "tan"},        {"ctg", "cot"},       {"cosec", "csc"},
        {"arctg", "atan"},    {"arcctg", "acot"},   {"sh", "sinh"},       {"ch", "cosh"},
        {"th", "tanh"},       {"asin", "asin"},     {"acos", "acos"},     {"atan", "atan"},
        {"arccoth", "acoth"}, {"arcsech", "asech"}, {"arccsch", "acsch"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i][0]))
            return names[i][1];
    return declared(r->lang, name);
}

bool latex_has_two(const struct latex_reading *r, const char *name)
{
    int op = r->lang ? lang_find(r->lang, name, strlen(name)) : -1;
    return op >= 0 && r->lang->ops[op].arity == 2;
}

const char *latex_function_at(struct latex_reading *r, const json_t *node)
{
    const char *name = "";
    node = latex_base(node);
    if (latex_has_type(node, "op"))
        name = latex_field(node, "name");
    else if (latex_has_type(node, "operatorname") || latex_has_type(node, "font"))
        name = latex_name_of(r, node);
    else if ((latex_has_type(node, "mathord") || latex_has_type(node, "textord")) &&
             declared(r->lang, latex_name_of(r, node)))
        name = latex_name_of(r, node);
    if (*name == '\\')
        name++;
    return latex_function_name(r, name) ? name : "";
}

struct latex_value latex_read_letter(struct latex_reading *r, const json_t *node, const json_t *sub)
{
    const char *name = latex_name_of(r, node), *index = sub ? latex_name_of(r, sub) : "";
    static const char others[] = "partial infty nabla emptyset dots ldots forall exists";
    if (!*name || (sub && !*index) || latex_has_type(node, "text") ||
        word_in(others, name, strlen(name)))
        return latex_refuse(r, node, NULL, "'%.40s' cannot be read as a variable",
                            latex_sign_of(node));
    if (!strcmp(name, "e") && !sub && !latex_note_reading(r, node, "e is read as Euler's number"))
        return latex_none;
    bool pattern = r->pattern,
         unit = !pattern && !sub && (!strcmp(name, "i") || !strcmp(name, "I"));
    r->pattern = false;
    if (unit && !latex_note_reading(r, node, "%s is read as the imaginary unit", name))
        return latex_none;
    if (sub)
        name = arena_printf(r->a, "%s_%s", name, index);
    if (!pattern && !lang_is_constant(name))
        name = unit ? "sqrt(-1)" : variable_infix(r->a, r->lang ? r->lang : &lang_calculus, name);
    return (struct latex_value){name, true, false, !unit};
}

struct latex_value latex_read_number(struct latex_reading *r, struct latex_list *l)
{
    struct buf b = {0};
    size_t end = SIZE_MAX;
    const json_t *node;
    bool point = false;
    while ((node = latex_next(l)) && latex_has_type(node, "textord") &&
           (isdigit((unsigned char)latex_field(node, "text")[0]) ||
            (!strcmp(latex_field(node, "text"), ".") && !point))) {
        if (end != SIZE_MAX && latex_place_of(node, 0) != end)
            break;
        point |= latex_field(node, "text")[0] == '.';
        buf_puts(&b, latex_field(node, "text"));
        end = latex_place_of(node, 1);
        l->at++;
    }
    /* The last digit may carry an exponent: it is then the base of a supsub, which read_power
     * reads. */
    struct latex_value x = {arena_strndup(r->a, b.data ? b.data : "", b.len), true, !point, false};
    buf_free(&b);
    return x;
}

bool latex_begins_bracket(const json_t *node)
{
    const char *sign = latex_sign_of(node);
    return node && (latex_has_type(node, "leftright") || !strcmp(sign, "(") || !strcmp(sign, "["));
}

bool latex_at_bracket(struct latex_list *l)
{
    return latex_begins_bracket(latex_base(latex_next(l)));
}

/* ---- composition ---- */

const char *latex_wrapped(struct latex_reading *r, struct latex_value x)
{
    return x.atom ? x.text : arena_printf(r->a, "(%s)", x.text);
}

struct latex_value latex_binary(struct latex_reading *r, struct latex_value x, const char *sign,
                                struct latex_value y)
{
    if (!x.text || !y.text)
        return latex_none;
    if (*sign == '/' && x.integer && y.integer)
        return (struct latex_value){.text = arena_printf(r->a, "%s/%s", x.text, y.text)};
    const char *left =
        *sign == '/' && x.integer ? arena_printf(r->a, "(%s)", x.text) : latex_wrapped(r, x);
    return (struct latex_value){.text =
                                    arena_printf(r->a, "%s%s%s", left, sign, latex_wrapped(r, y))};
}

struct latex_value latex_call(struct latex_reading *r, const char *name, struct latex_value x)
{
    if (!x.text)
        return latex_none;
    return (struct latex_value){.text = arena_printf(r->a, "%s(%s)", name, x.text), .atom = true};
}
