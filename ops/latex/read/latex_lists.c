#include "ops/latex/read/latex_lists.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"

/* ---- letters that spell a command ---- */

static const char *spelt(const char *letters)
{
    static const char *const names[] = {
        "sin",    "cos",   "tan",   "cot",  "sec",   "csc",    "log",     "ln",     "exp",
        "sqrt",   "abs",   "lim",   "int",  "sum",   "max",    "min",     "gcd",    "sgn",
        "det",    "mod",   "alpha", "beta", "gamma", "delta",  "epsilon", "theta",  "kappa",
        "lambda", "sigma", "omega", "frac", "cdot",  "mathbf", "mathrm",  "mathcal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(letters, names[i]))
            return names[i];
    return NULL;
}

/* The letters that stand side by side, without a gap, from node i on. */
static const char *letters_from(struct latex_reading *r, const json_t *list, size_t i)
{
    struct buf b = {0};
    for (const json_t *before = NULL, *node; (node = json_array_get(list, i)); i++, before = node) {
        const char *s = latex_sign(latex_base(node));
        if (!is_letter(*s) || s[1] || (before && !latex_adjacent(before, node)))
            break;
        buf_putc(&b, *s);
        if (latex_is_type(node, "supsub"))
            break;
    }
    return buf_text(&b, r->a);
}

static void check_spelling(struct latex_reading *r, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *letters = letters_from(r, list, i), *name = spelt(letters);
        if (word_in("nCr nCk nPr nPk", letters, strlen(letters)))
            latex_refuse(r, json_array_get(list, i),
                         "write \\binom{n}{k}; for a product write \\cdot",
                         "the letters '%s' count combinations or arrangements", letters);
        if (name)
            latex_refuse(r, json_array_get(list, i),
                         arena_printf(r->a,
                                      "write \\%s; for a product put spaces between its letters",
                                      name),
                         "the letters '%s' spell %s", letters, name);
        i += strlen(letters) > 1 ? strlen(letters) - 1 : 0;
    }
}

/* ---- braces ---- */

/* How much deeper in brackets what follows a node is. */
static int step(const json_t *node)
{
    const char *sign = latex_sign(latex_base(node));
    return latex_opens(sign) ? 1 : latex_is_close(sign) ? -1 : 0;
}

bool latex_is_bracketed(const json_t *list)
{
    size_t n = json_array_size(list);
    int depth = 0;
    if (n == 1)
        return latex_is_type(json_array_get(list, 0), "leftright");
    for (size_t i = 0; i < n; i++)
        if ((depth += step(json_array_get(list, i))) <= 0)
            return n && i + 1 == n && depth == 0 &&
                   !latex_is_type(json_array_get(list, i), "supsub");
    return false;
}

/* Whether signs other than those of a product, or of a variable of a pattern, stand there outside
 * brackets. */
static bool has_sum(const json_t *list)
{
    int depth = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *node = json_array_get(list, i);
        const char *sign = latex_sign(node);
        int more = step(node);
        depth += more;
        if (!depth && !more && latex_is_type(node, "atom") && !latex_is_times(sign) &&
            strcmp(sign, "?") != 0)
            return true;
    }
    return false;
}

/* Whether braces at this place are an argument by their look alone: \sin{x} y, f{(x)}. */
static bool seems_argument(const json_t *list, size_t i, const json_t *group)
{
    const json_t *before = i ? latex_base(json_array_get(list, i - 1)) : NULL;
    const json_t *after = latex_base(json_array_get(list, i + 1));
    if (latex_is_type(before, "op operatorname") && !latex_is_bracketed(group))
        return latex_is_open(json_array_get(group, 0)) ||
               (!latex_is_over(latex_sign(after)) &&
                latex_is_type(after, "mathord textord sqrt genfrac ordgroup font"));
    return latex_is_type(before, "mathord font") && latex_is_bracketed(group);
}

/* Appends a node with scripts; braces around a single base, or around digits, are opened. */
static void append_scripts(struct latex_reading *r, json_t *out, const json_t *node)
{
    const json_t *base =
        latex_is_group(latex_base(node)) ? latex_inside(r, latex_base(node)) : NULL;
    size_t n = json_array_size(base), digits = 0;
    while (digits < n && latex_is_digit(json_array_get(base, digits)))
        digits++;
    const json_t *last = json_array_get(base, n - 1);
    if (!n || (n > 1 && digits < n) || latex_is_type(last, "supsub")) {
        json_array_append(out, (json_t *)node);
        return;
    }
    for (size_t i = 0; i + 1 < n; i++)
        json_array_append(out, json_array_get(base, i));
    json_t *opened = json_copy((json_t *)node);
    json_object_set(opened, "base", (json_t *)last);
    json_array_append_new(out, opened);
}

struct latex_list latex_list_of(struct latex_reading *r, const json_t *node)
{
    const json_t *list = latex_inside(r, node);
    json_t *out = latex_new_list(r);
    for (size_t i = 0, n = json_array_size(list); i < n; i++) {
        const json_t *item = json_array_get(list, i);
        struct latex_list group;
        if (latex_is_type(item, "supsub"))
            append_scripts(r, out, item);
        else if (!latex_is_group(item))
            json_array_append(out, (json_t *)item);
        if (!latex_is_group(item))
            continue;
        if (has_sum(latex_inside(r, item)) && json_array_size(latex_inside(r, item)) > 1)
            latex_refuse(r, item, "write \\left( and \\right)", "these braces do not show");
        else if (seems_argument(list, i, latex_inside(r, item)))
            latex_refuse(r, item, "bracket the argument, or write \\cdot for a product",
                         "these braces may hold an argument, but do not show");
        group = latex_list_of(r, item);
        json_array_extend(out, (json_t *)group.items);
    }
    check_spelling(r, out);
    if (r->problem)
        json_array_clear(out);
    return (struct latex_list){out, 0, json_array_size(out), 0, false};
}

/* ---- numbers ---- */

/* A decimal comma, or one between thousands. */
static bool check_comma(struct latex_reading *r, const struct latex_list *l)
{
    const json_t *comma = latex_next(l);
    if (!strcmp(latex_sign(comma), ",") && latex_is_digit(latex_base(latex_item(l, l->at + 1)))) {
        latex_refuse(r, comma, "write 1.5 or 1000", "a number with a comma");
        return false;
    }
    return true;
}

struct latex_value latex_read_number(const json_t **last, struct latex_reading *r,
                                     struct latex_list *l)
{
    struct buf b = {0};
    const json_t *node;
    *last = NULL;
    while ((node = latex_next(l)) && !latex_is_type(*last, "supsub") &&
           (!*last || latex_adjacent(*last, node))) {
        const char *s = latex_sign(latex_base(node));
        if (!latex_is_digit(latex_base(node)) &&
            (strcmp(s, ".") || latex_base(node) != node || memchr(b.data, '.', b.len)))
            break;
        buf_puts(&b, s);
        *last = node;
        l->at++;
    }
    struct latex_value x = {buf_text(&b, r->a), LATEX_NUMBER};
    if (x.text[strlen(x.text) - 1] == '.')
        return latex_refuse(r, *last, "write 1.0 or 1", "a number ends with a digit");
    return check_comma(r, l) ? x : latex_none;
}
