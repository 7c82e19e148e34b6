#include "ops/latex/read/latex_scripts.h"

#include "base/text/words.h"
#include "ops/latex/read/latex_lists.h"
#include "ops/latex/read/latex_names.h"

/* A sign that is neither a number nor a variable: *, \circ, \dagger. */
static bool is_mark(struct latex_reading *r, const json_t *node)
{
    enum latex_kind kind;
    return latex_is_type(node, "atom") || (latex_is_type(node, "textord mathord") &&
                                           !latex_is_digit(node) && !*latex_name(&kind, r, node));
}

static bool is_ordinal(const json_t *list)
{
    const char *first = latex_sign(json_array_get(list, 0));
    const char *second = latex_sign(json_array_get(list, 1));
    return json_array_size(list) == 2 && *first && *second && !first[1] && !second[1] &&
           word_in("st nd rd th", (char[]){*first, *second}, 2);
}

/* x^{(2)} is a derivative or an index as often as a power. */
static bool check_bracketed(struct latex_reading *r, const json_t *sup, const json_t *list,
                            struct latex_value base, bool function)
{
    const json_t *bracket = json_array_get(list, 0);
    const json_t *within = json_object_get(bracket, "body");
    size_t n = within ? json_array_size(within) : json_array_size(list) - 2;
    const char *open = within ? latex_field(bracket, "left") : latex_sign(bracket);
    if (!function && (base.kind == LATEX_NUMBER || lang_is_constant(base.text)))
        return true;
    if (!function && n > 1 && *open == '(')
        return latex_note(r, sup, "the exponent in brackets is read as a power");
    latex_refuse(r, sup, "write x^{2} for a power",
                 "a superscript in brackets may be an index, or count derivatives");
    return false;
}

bool latex_check_power(struct latex_reading *r, const json_t *sup, struct latex_value base,
                       bool function)
{
    enum latex_kind kind;
    const json_t *list = latex_inside(r, sup), *first = json_array_get(list, 0);
    size_t n = json_array_size(list);
    const char *name = n == 1 ? latex_name(&kind, r, first) : "";
    for (size_t i = 0; i < n; i++)
        if (!strcmp(latex_sign(json_array_get(list, i)), "\\prime")) {
            latex_refuse(r, sup, "write \\frac{d}{dx} for a derivative",
                         "a prime has no meaning here");
            return false;
        }
    if (n == 1 && is_mark(r, first)) {
        latex_refuse(r, sup, NULL, "the superscript '%s' is no power", latex_typed(r, first));
        return false;
    }
    if (is_ordinal(list) && strcmp(base.text, "e")) {
        latex_refuse(r, sup, NULL, "an ordinal is no power");
        return false;
    }
    if (*name &&
        word_in(kind == LATEX_WORD ? "T H t" : "mathsf_T mathbf_T mathtt_T", name, strlen(name))) {
        latex_refuse(r, sup, NULL, "a transpose has no meaning here");
        return false;
    }
    if (!strcmp(name, "T") && base.kind != LATEX_NUMBER && !lang_is_constant(base.text))
        return latex_note(r, sup, "^T is read as a power, not as a transpose");
    return !latex_is_bracketed(list) || check_bracketed(r, sup, list, base, function);
}

int latex_small_exponent(struct latex_reading *r, const json_t *sup)
{
    const json_t *list = latex_inside(r, sup),
                 *last = json_array_get(list, json_array_size(list) - 1);
    bool minus = json_array_size(list) == 2 && latex_is_minus(latex_sign(json_array_get(list, 0)));
    if (!sup || json_array_size(list) != 1u + minus || !latex_is_digit(last))
        return -2;
    int digit = *latex_sign(last) - '0';
    return !minus ? digit : digit == 1 ? -1 : -2;
}

bool latex_check_script_ends(struct latex_reading *r, const json_t *node, const json_t *next)
{
    static const char *const scripts[] = {"sup", "sub"};
    for (size_t i = 0; i < 2; i++)
        if (latex_is_digit(latex_part(node, scripts[i])) && latex_is_digit(latex_base(next)) &&
            latex_adjacent(node, next)) {
            latex_refuse(r, next, "write {12} for several digits, or \\cdot for a product",
                         "a script without braces is one digit only");
            return false;
        }
    return true;
}
