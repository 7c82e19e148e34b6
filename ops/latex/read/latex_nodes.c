#include "ops/latex/read/latex_nodes.h"

#include "base/text/words.h"
#include "ops/expr/expr.h"
#include "ops/expr/syntax/lexical.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* ---- fields ---- */

const char *latex_field(const json_t *node, const char *key)
{
    const char *s = json_string_value(json_object_get(node, key));
    return s ? s : "";
}

bool latex_is_type(const json_t *node, const char *types)
{
    const char *type = latex_field(node, "type");
    return word_in(types, type, strlen(type));
}

const json_t *latex_part(const json_t *node, const char *which)
{
    const json_t *x = latex_is_type(node, "supsub") ? json_object_get(node, which) : NULL;
    return json_is_null(x) ? NULL : x;
}

const json_t *latex_base(const json_t *node)
{
    return latex_is_type(node, "supsub") ? latex_part(node, "base") : node;
}

/* The beginning or end (1) of a node in UTF-16 units; SIZE_MAX if unknown. */
static size_t place_of(const json_t *node, size_t end)
{
    static const char *const parts[] = {"base", "sup", "sub", "body"};
    size_t found = SIZE_MAX;
    const json_t *loc = json_object_get(node, "loc");
    if (json_is_array(node))
        return place_of(json_array_get(node, end ? json_array_size(node) - 1 : 0), end);
    if (loc)
        return (size_t)json_integer_value(json_array_get(loc, end));
    for (size_t i = 0; node && i < sizeof parts / sizeof *parts; i++) {
        size_t place = place_of(json_object_get(node, parts[i]), end);
        if (found == SIZE_MAX || (end && place != SIZE_MAX && place > found))
            found = place;
    }
    return found;
}

bool latex_adjacent(const json_t *first, const json_t *second)
{
    return place_of(first, 1) == place_of(second, 0);
}

size_t utf16_bytes(const char *s, size_t len, size_t units)
{
    size_t at = 0;
    while (at < len && units) {
        size_t n = character_length(s + at, s + len);
        units -= units > 1 && n == 4 ? 2 : 1;
        at += n;
    }
    return at;
}

static size_t bytes_of(const struct latex_reading *r, size_t units)
{
    return units == SIZE_MAX ? 0 : utf16_bytes(r->source, r->len, units);
}

bool latex_before_bracket(const struct latex_reading *r, const json_t *node)
{
    size_t at = bytes_of(r, place_of(node, 1));
    static const char large[] = "left big Big bigg Bigg bigl Bigl biggl Biggl";
    for (; at < r->len && strchr(" {", r->source[at]); at++)
        continue;
    size_t n = at < r->len && r->source[at] == '\\' ? 1 : 0;
    while (n && at + n < r->len && is_letter(r->source[at + n]))
        n++;
    bool sized = n && word_in(large, r->source + at + 1, n - 1);
    at += sized ? n : 0;
    return at < r->len && r->source[at] == '(';
}

bool latex_after_space(const struct latex_reading *r, const json_t *node)
{
    size_t at = bytes_of(r, place_of(node, 0));
    return at > 0 && is_space(r->source[at - 1]);
}

const char *latex_typed(const struct latex_reading *r, const json_t *node)
{
    size_t place = place_of(node, 0), n = 1;
    const char *s = r->source + bytes_of(r, place), *end = r->source + r->len;
    if (place == SIZE_MAX || s == end)
        return "this";
    while (*s == '\\' && s + n < end && is_letter(s[n]) && s[n] != '_')
        n++;
    if (*s == '\\' && n == 1 && s + 1 < end)
        n = 2;
    if (*s != '\\')
        n = character_length(s, end);
    bool argument =
        latex_is_type(latex_base(node), "operatorname font text") && s + n < end && s[n] == '{';
    const char *brace =
        argument || lexical_is(s, n, "\\begin") ? memchr(s, '}', (size_t)(end - s)) : NULL;
    if (brace)
        n = (size_t)(brace + 1 - s);
    return arena_strndup(r->a, s, n < 60 ? n : 60);
}

/* ---- refusals and notes ---- */

struct latex_value latex_refuse(struct latex_reading *r, const json_t *node, const char *hint,
                                const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->problem)
        return latex_none;
    r->problem = arena_strdup(r->a, text);
    r->hint = hint;
    r->begin = bytes_of(r, place_of(node, 0));
    return latex_none;
}

struct latex_value latex_unknown(struct latex_reading *r, const json_t *node)
{
    static const char *const hints[][2] = {
        {"\\lg", "write \\log_{10} or \\log_2"},
        {"\\bar", "write \\overline{z} for the complex conjugate"},
        {"\\bmod \\mod \\pmod", "write x - y \\lfloor x/y \\rfloor for a remainder"},
        {"\\hat \\tilde \\vec \\dot \\ddot", "a variable is a letter, perhaps with an index"},
        {"\\partial \\nabla", "write \\frac{\\partial}{\\partial x} for a derivative"},
    };
    const char *typed = latex_typed(r, node), *hint = NULL;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (word_in(hints[i][0], typed, strlen(typed)))
            hint = hints[i][1];
    return latex_refuse(r, node, hint, "'%s' cannot be read as part of an expression", typed);
}

bool latex_note(struct latex_reading *r, const json_t *node, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!r->notes) {
        latex_refuse(r, node, "write it with explicit signs and brackets, or as infix",
                     "ambiguous: %s", text);
        return false;
    }
    buf_printf(r->notes, "%s\n", text);
    return true;
}

/* ---- signs ---- */

const char *latex_sign(const json_t *node)
{
    return latex_is_type(node, "atom textord mathord") ? latex_field(node, "text")
           : latex_is_type(node, "delimsizing")        ? latex_field(node, "delim")
                                                       : "";
}

bool latex_is_minus(const char *s)
{
    return word_in("- −", s, strlen(s));
}

bool latex_is_times(const char *s)
{
    return word_in("* \\cdot \\times ⋅ ×", s, strlen(s));
}

bool latex_is_over(const char *s)
{
    return word_in("/ \\div ÷", s, strlen(s));
}

bool latex_is_close(const char *s)
{
    return word_in(") ] \\} \\rbrace \\rbrack \\rfloor \\rceil", s, strlen(s));
}

bool latex_is_digit(const json_t *node)
{
    return latex_is_type(node, "textord") && is_digit(*latex_field(node, "text"));
}

bool latex_is_group(const json_t *node)
{
    return latex_is_type(node, "ordgroup styling sizing color");
}

const char *latex_closing(const char **function, const char *open)
{
    static const char *const brackets[][3] = {
        {"(", ")", ""},
        {"[", "]", ""},
        {"\\{", "\\}", ""},
        {"\\lbrace", "\\rbrace", ""},
        {"|", "|", "abs"},
        {"\\vert", "\\vert", "abs"},
        {"∣", "∣", "abs"},
        {"\\lvert", "\\rvert", "abs"},
        {"\\lbrack", "\\rbrack", ""},
        {"\\lfloor", "\\rfloor", "floor"},
        {"\\lceil", "\\rceil", "ceil"},
    };
    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++)
        if (!strcmp(open, brackets[i][0])) {
            *function = brackets[i][2];
            return brackets[i][1];
        }
    return NULL;
}

bool latex_opens(const char *sign)
{
    const char *function;
    return latex_closing(&function, sign) && strcmp(function, "abs") != 0;
}

int latex_bracket_operator(const struct language *lang, const char *function)
{
    return !strcmp(function, "floor")  ? lang_shaped(lang, LANG_FLOOR)
           : !strcmp(function, "ceil") ? lang_shaped(lang, LANG_CEILING)
                                       : lang_find(lang, function, strlen(function));
}

bool latex_is_open(const json_t *node)
{
    bool whole = latex_is_type(node, "leftright");
    const char *function, *sign = whole ? latex_field(node, "left") : latex_sign(node);
    return latex_closing(&function, sign) && !*function;
}

/* ---- lists ---- */

/* Appends the nodes of a group. What sets the size or the colour of all that follows is opened;
 * what colours a group is left as one. */
static void append(json_t *out, const json_t *node, bool last)
{
    if (json_is_array(node))
        for (size_t i = 0; i < json_array_size(node); i++)
            append(out, json_array_get(node, i), i + 1 == json_array_size(node));
    else if (last && latex_is_type(node, "styling sizing color"))
        append(out, json_object_get(node, "body"), true);
    else if (node && !json_is_null(node) && !latex_is_type(node, "spacing kern"))
        json_array_append(out, (json_t *)node);
}

json_t *latex_new_list(struct latex_reading *r)
{
    json_t *list = json_array();
    json_array_append_new(r->lists, list);
    return list;
}

const json_t *latex_inside(struct latex_reading *r, const json_t *node)
{
    for (;;) {
        json_t *list = latex_new_list(r);
        append(list, latex_is_group(node) ? json_object_get(node, "body") : node, true);
        node = json_array_get(list, 0);
        if (json_array_size(list) != 1 || !latex_is_group(node))
            return list;
    }
}

/* ---- composition ---- */

struct latex_value latex_apply(struct latex_reading *r, const char *token, struct latex_value x)
{
    if (!x.text)
        return latex_none;
    return (struct latex_value){arena_printf(r->a, "%s %s", token, x.text), LATEX_TERM};
}

struct latex_value latex_apply2(struct latex_reading *r, const char *token, struct latex_value x,
                                struct latex_value y)
{
    if (!x.text || !y.text)
        return latex_none;
    return (struct latex_value){arena_printf(r->a, "%s %s %s", token, x.text, y.text), LATEX_TERM};
}

struct latex_value latex_negate(struct latex_reading *r, struct latex_value x)
{
    if (!x.text)
        return latex_none;
    bool number = is_digit(*x.text) && !strchr(x.text, ' ') && strcmp(x.text, "0");
    return (struct latex_value){arena_printf(r->a, number ? "-%s" : "* -1 %s", x.text), LATEX_TERM};
}

static bool is_integer(struct latex_value x)
{
    return x.text && x.kind == LATEX_NUMBER && x.text[strspn(x.text, "0123456789")] == 0;
}

struct latex_value latex_quotient(struct latex_reading *r, struct latex_value x,
                                  struct latex_value y)
{
    if (is_integer(x) && is_integer(y) && y.text[strspn(y.text, "0")])
        return (struct latex_value){arena_printf(r->a, "%s/%s", x.text, y.text), LATEX_TERM};
    return latex_apply2(r, "/", x, y);
}

const char *latex_shown(const struct latex_reading *r, struct latex_value x)
{
    struct expr e;
    return expr_from_prefix(&e, r->a, r->lang, x.text, NULL) ? x.text : expr_infix(r->a, &e);
}

size_t latex_count(const struct latex_reading *r, struct latex_value x, const char *name)
{
    size_t count = 0;
    for (const char *s = x.text; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        const char *symbol = arena_strndup(r->a, s, n);
        count += name ? *s == '?' || !strcmp(symbol, name)
                      : (is_letter(*s) || strchr("?\"", *s)) && lang_find(r->lang, s, n) < 0 &&
                            !lang_is_constant(symbol);
        s += n;
    }
    return count;
}
