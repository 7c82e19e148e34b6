#include "ops/latex/read/latex_derivative.h"

#include "ops/expr/syntax/lexical.h"
#include "ops/latex/read/latex_names.h"
#include "ops/latex/read/latex_scripts.h"

static struct latex_derivative refuse(struct latex_reading *r, const json_t *node)
{
    latex_refuse(r, node, "write \\frac{d}{dx} or \\frac{d^2}{dx^2} before the expression",
                 "this is no derivative that can be read");
    return (struct latex_derivative){0};
}

/* The order of a d or dx with this exponent; 0 if it is none. */
static unsigned order_of(struct latex_reading *r, const json_t *node)
{
    int power = latex_part(node, "sup") ? latex_small_exponent(r, latex_part(node, "sup")) : 1;
    return power > 0 && !(latex_is_type(node, "supsub") && !latex_part(node, "sup"))
               ? (unsigned)power
               : 0;
}

/* Reads "dx^2 dy"; returns false if the list is not of this form. */
static bool variables(struct latex_derivative *d, struct latex_reading *r, struct latex_list *below)
{
    const json_t *node;
    while ((node = latex_next(below))) {
        bool partial;
        enum latex_kind kind;
        const json_t *x = latex_item(below, below->at + 1), *sub = NULL;
        if (!latex_is_d(node, &partial) || partial != d->partial || !x)
            return false;
        bool pattern = !strcmp(latex_sign(x), "?");
        if (pattern)
            x = latex_item(below, ++below->at + 1);
        const json_t *base = latex_base(x);
        const char *name = base ? latex_name(&kind, r, base) : "";
        unsigned order = latex_part(x, "sup") ? order_of(r, x) : 1;
        if (!*name || !strcmp(name, "d") || lang_is_constant(name) ||
            d->n + order > LATEX_ORDER_MAX || !order)
            return false;
        if ((sub = latex_part(x, "sub")))
            name = latex_read_name(r, base, sub, true).text;
        if (pattern && name)
            name = arena_printf(r->a, "?%s", name);
        for (unsigned i = 0; i < order && name; i++)
            d->variables[d->n++] = name;
        below->at += 2;
    }
    return d->n > 0;
}

struct latex_derivative latex_derivative_of(struct latex_reading *r, const json_t *node,
                                            struct latex_list above, struct latex_list below)
{
    struct latex_derivative d = {.of = above};
    const json_t *first = latex_next(&above), *second = latex_item(&above, 1);
    const char *sign = latex_sign(second);
    bool other;
    if (latex_is_letter(r, latex_base(first), "D") && latex_is_letter(r, latex_next(&below), "D") &&
        below.n > 1) {
        latex_refuse(r, node, "write \\cdot for products", "this may be a material derivative");
        return d;
    }
    if (!lang_has(r->lang, X_D) || !latex_is_d(latex_base(first), &d.partial) || below.n < 2 ||
        !latex_is_d(latex_next(&below), &other) || !order_of(r, first))
        return d;
    d.of.at = 1;
    if (*sign && (latex_is_type(second, "atom") || latex_is_over(sign)) && !latex_is_open(second))
        return (struct latex_derivative){0}; /* (d + a)/(d x) */
    enum latex_kind kind;
    const json_t *x = latex_base(latex_item(&below, 1));
    if (!d.partial && (!x || (strcmp(latex_sign(x), "?") && !*latex_name(&kind, r, x))))
        return (struct latex_derivative){0}; /* d/(d + 1) */
    if (!variables(&d, r, &below) || d.n != order_of(r, first))
        return refuse(r, node);
    return d;
}

struct latex_derivative latex_derivative_at(struct latex_reading *r, struct latex_list *l)
{
    const json_t *first = latex_next(l), *third = latex_item(l, l->at + 2);
    bool partial;
    if (!latex_is_d(latex_base(first), &partial))
        return (struct latex_derivative){0};
    if (latex_is_over(latex_sign(third)) && latex_is_d(latex_item(l, l->at + 3), &partial) &&
        latex_is_type(latex_base(latex_item(l, l->at + 4)), "mathord textord font"))
        return refuse(r, first); /* dy/dx */
    if (!latex_is_over(latex_sign(latex_item(l, l->at + 1))) || !latex_is_d(third, &partial))
        return (struct latex_derivative){0};
    json_t *above = latex_new_list(r), *below = latex_new_list(r);
    json_array_append(above, (json_t *)first);
    json_array_append(below, (json_t *)third);
    if (latex_item(l, l->at + 3))
        json_array_append(below, (json_t *)latex_item(l, l->at + 3));
    struct latex_derivative d =
        latex_derivative_of(r, first, (struct latex_list){above, 0, 1, 0, false},
                            (struct latex_list){below, 0, json_array_size(below), 0, false});
    l->at += d.n ? 4 : 0;
    return d;
}

bool latex_has_derivative(struct latex_reading *r, const struct latex_list *l, size_t from)
{
    for (size_t i = from; i < l->at; i++) {
        const json_t *node = latex_item(l, i);
        struct latex_list above = latex_list_of(r, json_object_get(node, "numer"));
        struct latex_list below = latex_list_of(r, json_object_get(node, "denom"));
        if (above.n == 1 && latex_derivative_of(r, node, above, below).n)
            return true;
    }
    return false;
}

bool latex_is_divided(const struct latex_reading *r, const struct latex_derivative *d,
                      struct latex_value first, struct latex_value product)
{
    size_t others = latex_count(r, product, NULL);
    bool both = false;
    for (unsigned i = 0; first.text && i < d->n; i++) {
        size_t n = latex_count(r, first, d->variables[i]);
        size_t all = latex_count(r, product, d->variables[i]);
        both |= n && all > n;
        others -= i && !strcmp(d->variables[i], d->variables[i - 1]) ? 0 : all;
    }
    bool last = product.text && (strstr(product.text, "max/2") || strstr(product.text, "min/2"));
    return last || (both && first.kind != LATEX_LETTER) || (!d->partial && others);
}

/* The names of variables other than the derivative's, as "y, z"; "" if there are none. */
static const char *held(struct latex_reading *r, const struct latex_derivative *d,
                        struct latex_value x)
{
    const char *out = "";
    for (const char *s = x.text; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        struct latex_value token = {arena_strndup(r->a, s, n), LATEX_TERM};
        bool of = !latex_count(r, token, NULL) ||
                  latex_count(r, (struct latex_value){out, LATEX_TERM}, token.text);
        for (unsigned i = 0; i < d->n; i++)
            of |= !strcmp(d->variables[i], token.text);
        if (!of)
            out = arena_printf(r->a, "%s%s%s", out, *out ? " " : "", token.text);
        s += n;
    }
    return out;
}

struct latex_value latex_derive(struct latex_reading *r, const json_t *node,
                                const struct latex_derivative *d, struct latex_value x)
{
    const char *others = x.text ? held(r, d, x) : "";
    if (!x.text)
        return latex_none;
    for (unsigned i = 0; i < d->n; i++) {
        const char *name = d->variables[i];
        if (latex_count(r, x, name) || !latex_count(r, x, NULL))
            continue;
        const char *shown = latex_shown(r, x);
        if (d->of.n > 1 || !strchr(x.text, ' '))
            return latex_refuse(r, node, "differentiate an expression in this variable",
                                "%.60s is not given as a function of %s", shown, name);
        if (!latex_note(r, node, "%.60s does not depend on %s: its derivative is 0", shown, name))
            return latex_none;
    }
    if (d->partial && *others && !latex_usual(r, node, "\\partial holds constant: %s", others))
        return latex_none;
    for (unsigned i = d->n; i-- > 0;)
        x = latex_apply(r, arena_printf(r->a, "d %s", d->variables[i]), x);
    return x;
}
