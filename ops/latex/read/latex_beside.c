#include "ops/latex/read/latex_beside.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/latex/read/latex_names.h"

static bool refuse(struct latex_reading *r, const json_t *node, const char *hint, const char *what)
{
    latex_refuse(r, node, hint, "%s", what);
    return false;
}

/* Whether the bracket at the list's position holds a sum, and so no argument but a factor. */
static bool holds_sum(const struct latex_list *l)
{
    const json_t *node = latex_base(latex_next(l)), *body = json_object_get(node, "body");
    const char *function, *close = latex_closing(&function, latex_sign(node));
    for (size_t i = body ? 0 : l->at + 1, depth = 0;; i++) {
        const json_t *item = json_array_get(body ? body : l->items, i);
        const char *sign = latex_sign(latex_base(item));
        if (!item || (!body && !depth && !strcmp(sign, close)))
            return false;
        if (!depth && i > (body ? 0 : l->at + 1) && (latex_is_minus(sign) || !strcmp(sign, "+")))
            return true;
        depth += latex_opens(sign);
        depth -= depth && latex_is_close(sign);
    }
}

/* f(x), x(y + 1), f^{-1}(x); f (x) is taken for a product, as in infix. */
static bool check_call(struct latex_reading *r, const struct latex_list *l, struct latex_value last,
                       const json_t *before)
{
    bool raised = last.kind == LATEX_RAISED;
    const char *power = raised ? last.text + strlen("pow ") : last.text;
    const char *name = arena_strndup(r->a, power, strcspn(power, " "));
    const char *letter = arena_strndup(r->a, name, strcspn(name, "_"));
    bool gap = latex_after_space(r, latex_next(l));
    bool function =
        last.kind == LATEX_WORD ||
        (!gap && (!holds_sum(l) || word_in("f g h F G H Gamma zeta psi", letter, strlen(letter))));
    if (lang_is_constant(name) && !raised)
        return true;
    if (!function)
        return latex_usual(r, before, "%s before a bracket is read as a factor",
                           latex_shown(r, last));
    latex_refuse(
        r, before,
        last.kind == LATEX_WORD
            ? "functions that are not declared cannot be read"
            : arena_printf(r->a, "for the product write %s \\cdot (...)", latex_typed(r, before)),
        "%s%s(...) may be a product or a function", name, raised ? "^..." : "");
    return false;
}

/* Whether this is a fraction of integers, as in 2\frac12. */
static bool is_numeric(struct latex_reading *r, const json_t *base)
{
    static const char *const parts[] = {"numer", "denom"};
    for (size_t k = 0; k < 2; k++) {
        const json_t *list = latex_inside(r, json_object_get(base, parts[k]));
        for (size_t i = 0; i < json_array_size(list); i++)
            if (!latex_is_digit(json_array_get(list, i)))
                return false;
    }
    return latex_is_type(base, "genfrac");
}

static bool is_upright(struct latex_reading *r, const json_t *base)
{
    enum latex_kind kind;
    return latex_is_type(base, "font operatorname") && *latex_name(&kind, r, base) &&
           kind == LATEX_WORD && strcmp(latex_name(&kind, r, base), "e");
}

bool latex_check_beside(struct latex_reading *r, const struct latex_list *l,
                        struct latex_value last, const json_t *before, bool over)
{
    const json_t *node = latex_next(l), *base = latex_base(node);
    const char *sign = latex_sign(base);
    if (!strcmp(sign, "\\times") && !strncmp(last.text, "mathbf_", strlen("mathbf_")))
        return refuse(r, node, "write \\cdot for a product of numbers",
                      "\\times after a bold letter may be a cross product");
    if (latex_is_times(sign) || latex_is_over(sign))
        return true;
    if (over)
        return refuse(r, node, "write \\frac{a}{b} c, or \\frac{a}{b c}",
                      "a/b c may be (a/b)*c or a/(b*c)");
    bool name = last.kind == LATEX_LETTER || last.kind == LATEX_WORD || last.kind == LATEX_RAISED;
    if (name && latex_is_open(base))
        return check_call(r, l, last, before);
    if (last.kind == LATEX_WORD && latex_is_type(before, "operatorname"))
        return refuse(r, before, NULL,
                      arena_printf(r->a, "no function has the name %s", last.text));
    if (last.kind == LATEX_NUMBER && (is_numeric(r, base) || latex_is_digit(base)))
        return refuse(r, node, "write \\cdot or one number",
                      "two numbers side by side may be a product or a mixed number");
    if (latex_is_digit(base) && !(latex_part(node, "sup") && !latex_adjacent(before, node)))
        return refuse(r, node, "write \\cdot before it", "a number follows a factor");
    if (last.kind == LATEX_NUMBER && is_upright(r, base) && !latex_is_type(base, "operatorname"))
        return refuse(r, node, "write \\cdot for a product",
                      "upright letters after a number are a unit, not a factor");
    if (last.kind == LATEX_WORD || (is_upright(r, base) && latex_function(r, base) < 0))
        return latex_note(r, node, "upright letters beside a factor are read as a factor");
    if ((!strcmp(last.text, "Delta") || !strcmp(last.text, "delta")) &&
        latex_is_type(base, "mathord"))
        return refuse(
            r, before, "write \\cdot for a product",
            arena_printf(r->a, "\\%s before a letter may be a factor or a difference", last.text));
    if (!strcmp(last.text, "\"d\"") && latex_is_type(base, "mathord"))
        return latex_usual(r, before, "d %s is read as a product, not as a differential",
                           latex_typed(r, base));
    if (l->bar && last.kind != LATEX_BRACKETS && !strcmp(sign, "|"))
        return latex_note(r, node, "the bars before are read as a pair");
    return true;
}
