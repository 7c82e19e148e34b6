#include "ops/latex/read/latex_known.h"

#include "base/text/words.h"

/* An attribute of a type: a part of the tree, or one of these values; any where it only says how
 * the node looks. What is not in the table is unknown. */
#define PART NULL
#define ANY "*"
static const struct {
    const char *type, *name, *values;
} known[] = {
    {"atom", "family", "bin rel open close punct inner"},
    {"atom", "text", ANY},
    {"color", "body", PART},
    {"color", "color", ANY},
    {"delimsizing", "delim", ANY},
    {"delimsizing", "mclass", "mopen mclose mord"},
    {"delimsizing", "size", ANY},
    {"font", "body", PART},
    {"font", "font",
     "mathrm mathnormal mathit mathbf mathbb mathcal mathfrak mathscr mathsf mathtt boldsymbol"},
    {"genfrac", "barSize", ANY},
    {"genfrac", "continued", ANY},
    {"genfrac", "denom", PART},
    {"genfrac", "hasBarLine", ANY}, /* without one, see read_fraction */
    {"genfrac", "leftDelim", "null ("},
    {"genfrac", "numer", PART},
    {"genfrac", "rightDelim", "null )"},
    {"genfrac", "size", ANY},
    {"kern", "dimension", ANY},
    {"leftright", "body", PART},
    {"leftright", "left", ANY},
    {"leftright", "right", ANY},
    {"mathord", "text", ANY},
    {"mclass", "body", PART}, /* \boldsymbol, see latex_names.c */
    {"mclass", "isCharacterBox", ANY},
    {"mclass", "mclass", "mord"},
    {"op", "alwaysHandleSupSub", ANY},
    {"op", "limits", ANY},
    {"op", "name", ANY},
    {"op", "parentIsSupSub", ANY},
    {"op", "symbol", "false"},
    {"operatorname", "alwaysHandleSupSub", ANY},
    {"operatorname", "body", PART},
    {"operatorname", "limits", ANY},
    {"operatorname", "parentIsSupSub", ANY},
    {"ordgroup", "body", PART},
    {"ordgroup", "semisimple", ANY},
    {"overline", "body", PART},
    {"sizing", "body", PART},
    {"sizing", "size", ANY},
    {"spacing", "text", ANY},
    {"sqrt", "body", PART},
    {"sqrt", "index", PART},
    {"styling", "body", PART},
    {"styling", "style", ANY},
    {"supsub", "base", PART},
    {"supsub", "sub", PART},
    {"supsub", "sup", PART},
    {"text", "body", PART},
    {"text", "font", ANY},
    {"textord", "text", ANY},
};

static const char *value_of(const json_t *value)
{
    return json_is_string(value)  ? json_string_value(value)
           : json_is_true(value)  ? "true"
           : json_is_false(value) ? "false"
           : json_is_null(value)  ? "null"
                                  : "";
}

static bool check(struct latex_reading *r, const json_t *node, const json_t *within);

static bool check_attribute(struct latex_reading *r, const json_t *node, const char *name,
                            const json_t *value, const json_t *within)
{
    const char *type = latex_field(node, "type"), *text = value_of(value);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].type, type) && !strcmp(known[i].name, name))
            return known[i].values == PART        ? json_is_null(value) || check(r, value, within)
                   : strcmp(known[i].values, ANY) ? word_in(known[i].values, text, strlen(text))
                                                  : true;
    return false;
}

/* `within` is the nearest node around this one that has a place. */
static bool check(struct latex_reading *r, const json_t *node, const json_t *within)
{
    const char *name;
    json_t *value;
    if (json_is_array(node)) {
        for (size_t i = 0; i < json_array_size(node); i++)
            if (!check(r, json_array_get(node, i), within))
                return false;
        return true;
    }
    bool is_known = json_is_object(node) && *latex_field(node, "type");
    within = json_object_get(node, "loc") ? node : within;
    json_object_foreach((json_t *)node, name,
                        value) if (strcmp(name, "type") && strcmp(name, "loc")) is_known =
        is_known && check_attribute(r, node, name, value, within);
    if (!is_known)
        latex_unknown(r, within);
    return is_known;
}

bool latex_check_known(struct latex_reading *r, const json_t *tree)
{
    return check(r, tree, NULL);
}
