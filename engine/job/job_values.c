/* Checks the types and ranges of op parameters and converts the values to the canonical text that
 * enters action keys: 1e-4 and 0.00010 are the same parameter. */
#include "engine/job/job_draft.h"

#include "base/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Converts a real to the shortest decimal that reads back as the same double. */
static enum err_code number_text(const char **out, struct arena *a, const struct op_param *param,
                                 const struct yaml_node *value, struct err *e)
{
    const char *text = value->text, *digits = text + (*text == '-' || *text == '+');
    bool whole = param->type == OP_INT;
    char *end, shortest[40];
    errno = 0;
    int64_t n = whole ? strtoll(text, &end, 10) : 0;
    double v = whole ? (double)n : strtod(text, &end);
    bool formed = whole ? *digits >= '0' && *digits <= '9' && !errno
                        : strspn(text, "+-0123456789.eE") == strlen(text) && isfinite(v);
    if (value->style != YAML_PLAIN || end == text || *end || !formed)
        return yaml_fail(e, value, "'%s' must be %s, not %s%.60s%s", param->name,
                         whole ? "an integer" : "a number",
                         value->style == YAML_PLAIN ? "'" : "the text \"", text,
                         value->style == YAML_PLAIN ? "'" : "\"");
    if ((param->min != 0 || param->max != 0) && (v < param->min || v > param->max))
        return yaml_fail(e, value, "'%s' must be between %.10g and %.10g, not %.60s", param->name,
                         param->min, param->max, text);
    if (v == 0)
        v = 0; /* turns -0 into 0 */
    for (int k = 15; k <= 17; k++) {
        snprintf(shortest, sizeof shortest, "%.*g", k, v);
        if (strtod(shortest, NULL) == v)
            break;
    }
    *out = whole ? arena_printf(a, "%" PRId64, n) : arena_strdup(a, shortest);
    return OK;
}

static enum err_code bool_text(const char **out, const struct op_param *param,
                               const struct yaml_node *value, struct err *e)
{
    bool yes = !strcmp(value->text, "true");
    *out = yes ? "true" : "false";
    if (value->style == YAML_PLAIN && (yes || !strcmp(value->text, "false")))
        return OK;
    enum err_code code =
        yaml_fail(e, value, "'%s' must be true or false, not '%.60s'", param->name, value->text);
    static const char *const affirmative[] = {"yes", "Yes", "on", "True", "TRUE", "1"};
    static const char *const negative[] = {"no", "No", "off", "False", "FALSE", "0"};
    for (size_t i = 0; i < sizeof negative / sizeof *negative; i++)
        if (!strcmp(value->text, affirmative[i]) || !strcmp(value->text, negative[i]))
            err_hint(e, "did you mean '%s'?", strcmp(value->text, negative[i]) ? "true" : "false");
    return code;
}

static enum err_code enum_text(const char **out, struct arena *a, const struct op_param *param,
                               const struct yaml_node *value, struct err *e)
{
    const char *names[64];
    size_t n = 0;
    char *values = arena_strdup(a, param->values), *save = NULL;
    for (char *v = strtok_r(values, "|", &save); v && n < 64; v = strtok_r(NULL, "|", &save)) {
        *out = v;
        if (!strcmp(v, value->text))
            return OK;
        names[n++] = v;
    }
    return err_suggest(yaml_fail(e, value, "'%s' must be one of %.200s, not '%.60s'", param->name,
                                 param->values, value->text),
                       value->text, names, n, e);
}

/* Adds an item of any text; op_strings() undoes the escapes. */
static void add_escaped(struct buf *out, const char *text)
{
    if (!*text)
        buf_puts(out, "\\e");
    for (; *text; text++)
        if (*text == '\n' || *text == '\\')
            buf_puts(out, *text == '\n' ? "\\n" : "\\\\");
        else
            buf_putc(out, *text);
}

static enum err_code strings_text(const char **out, struct arena *a, const struct op_param *param,
                                  const struct yaml_node *value, struct err *e)
{
    const struct yaml_node *const one[] = {value};
    bool is_list = value->type == YAML_SEQUENCE;
    const struct yaml_node *const *items = is_list ? value->items : one;
    struct buf text = {0};
    enum err_code code = ERR_INPUT;
    for (size_t i = 0; i < (is_list ? value->n : 1); i++) {
        if (err_up(e, yaml_expect(items[i], YAML_SCALAR, "an item of the list", e)))
            goto out;
        buf_puts(&text, i ? "\n" : "");
        if (param->any_text) {
            add_escaped(&text, items[i]->text);
        } else if (!items[i]->len || strchr(items[i]->text, '\n')) {
            yaml_fail(e, items[i], "'%s': an item must be one line of text", param->name);
            goto out;
        } else {
            buf_puts(&text, items[i]->text);
        }
    }
    *out = arena_strndup(a, text.data ? text.data : "", text.len);
    code = OK;
out:
    buf_free(&text);
    return code;
}

enum err_code job_param_text(const char **out, struct arena *a, const struct op_param *param,
                             const struct yaml_node *value, struct err *e)
{
    enum err_code code = OK;
    if (param->type != OP_STRINGS && (code = yaml_expect(value, YAML_SCALAR, param->name, e)))
        return err_up(e, code);
    if (yaml_is_null(value))
        return yaml_fail(e, value, "'%s' has no value", param->name);
    switch (param->type) {
    case OP_INT:
    case OP_REAL: return err_up(e, number_text(out, a, param, value, e));
    case OP_BOOL: return err_up(e, bool_text(out, param, value, e));
    case OP_STRING: *out = value->text; return OK;
    case OP_ENUM: return err_up(e, enum_text(out, a, param, value, e));
    case OP_STRINGS: return err_up(e, strings_text(out, a, param, value, e));
    }
    return code;
}

const char *job_param_initial(struct arena *a, const struct op_param *param)
{
    const char *text = param->initial;
    struct yaml_node value = {.style = YAML_PLAIN, .text = text};
    if (text && (param->type == OP_INT || param->type == OP_REAL))
        number_text(&text, a, param, &value, NULL);
    return text;
}
