#include "ops/latex/read/latex_scripts.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"
#include "ops/latex/read/latex_lists.h"
#include "ops/latex/read/latex_names.h"

#include <stdlib.h>

/* A sign that is neither a number nor a variable: *, \circ, \dagger, or of a rising factorial. */
static bool is_mark(struct latex_reading *r, const json_t *node)
{
    enum latex_kind kind;
    return latex_is_type(node, "atom overline") ||
           (latex_is_type(node, "textord mathord") && !latex_is_digit(node) &&
            !*latex_name(&kind, r, node));
}

/* nd, 2nd, nth */
static bool is_ordinal(const json_t *list)
{
    size_t n = json_array_size(list);
    const char *first = latex_sign(json_array_get(list, n - 2));
    const char *second = latex_sign(json_array_get(list, n - 1));
    const char *count = latex_sign(json_array_get(list, 0));
    return (n == 2 ||
            (n == 3 && (is_digit(*count) || word_in("i j k m n", count, strlen(count))))) &&
           *first && *second && !first[1] && !second[1] &&
           word_in("st nd rd th", (char[]){*first, *second}, 2);
}

/* A^T, A^{-T}, A^H, A^t: letters that mark a transpose as often as they are numbers. */
static bool check_transpose(struct latex_reading *r, const json_t *sup, const json_t *list,
                            struct latex_value base)
{
    enum latex_kind kind;
    size_t n = json_array_size(list);
    bool minus = n == 2 && latex_is_minus(latex_sign(json_array_get(list, 0)));
    const char *name = n == 1u + minus ? latex_name(&kind, r, json_array_get(list, n - 1)) : "";
    if (base.kind == LATEX_NUMBER || lang_is_constant(base.text) ||
        !word_in("T H t", name, strlen(name)) || (*name == 't' && base.kind != LATEX_LETTER))
        return true;
    const char *said = "^%s%s is read as a power, not as a transpose";
    return *name == 'T' ? latex_note(r, sup, said, minus ? "-" : "", name)
                        : latex_usual(r, sup, said, minus ? "-" : "", name);
}

/* C_n^k may be a binomial coefficient, \delta_a^b a tensor's component, f^{-1} an inverse. */
static bool check_scripts(struct latex_reading *r, const json_t *sup, const json_t *list,
                          struct latex_value base)
{
    enum latex_kind kind;
    bool name = base.kind == LATEX_LETTER || base.kind == LATEX_WORD;
    const char *index = name ? strrchr(base.text, '_') : NULL;
    size_t n = index ? (size_t)(index - base.text) : strlen(base.text);
    const json_t *power = json_array_get(list, 0);
    bool letter = json_array_size(list) == 1 && *latex_name(&kind, r, power);
    if (name && word_in("f g h F G", base.text, strcspn(base.text, "_")) &&
        latex_small_exponent(r, sup) == -1)
        return latex_usual(r, sup, "%s^{-1} is read as 1/%s, not as an inverse function", base.text,
                           base.text);
    if (!index)
        return true;
    bool counts = base.text[n - 1] == 'C' && (n == 1 || base.text[n - 2] == '_');
    bool numbers = is_digit(index[1]) && latex_is_digit(power) && json_array_size(list) == 1;
    if (counts && (!numbers || atoi(index + 1) >= *latex_sign(power) - '0'))
        return latex_usual(r, sup, "%s is read as a variable with a power", base.text);
    return !letter || is_digit(index[1]) || !variable_has_components(base.text, n) ||
           latex_usual(r, sup, "%s is read as a variable with a power", base.text);
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
    if (!function && (!check_transpose(r, sup, list, base) || !check_scripts(r, sup, list, base)))
        return false;
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

const json_t *latex_open_base(const json_t **sub, struct latex_reading *r, const json_t *node)
{
    const json_t *list = latex_inside(r, latex_base(node)), *base = json_array_get(list, 0);
    *sub = latex_part(node, "sub");
    if (!json_array_size(list)) {
        latex_refuse(r, node, NULL, "nothing stands before this script");
        return NULL;
    }
    if (json_array_size(list) == 1 && !latex_is_type(base, "supsub"))
        return base;
    if (json_array_size(list) == 1 && !latex_part(base, "sup") && !*sub) {
        *sub = latex_part(base, "sub");
        return latex_part(base, "base");
    }
    latex_refuse(r, node, "write \\left( and \\right)", "the braces of this base do not show");
    return NULL;
}
