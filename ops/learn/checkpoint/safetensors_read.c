/* Reading safetensors; see safetensors_read.h. */
#include "ops/learn/checkpoint/safetensors_read.h"

#include <jansson.h>
#include <string.h>

enum { HEADER_MAX = 64 << 20, HEADER_AT = 8 };

static enum err_code bad(const struct source_text *file, const char *what, struct err *e)
{
    return err_fail(e, ERR_INPUT, "%s: %s", file->name, what);
}

/* Parses the header; returns the offset of the values. */
static enum err_code open_header(json_t **out, size_t *values, const struct source_text *file,
                                 struct err *e)
{
    if (file->len < HEADER_AT)
        return bad(file, "not a safetensors file: shorter than eight bytes", e);
    uint64_t n = get_le(file->text, HEADER_AT);
    if (n > HEADER_MAX || n > file->len - HEADER_AT)
        return bad(file, "not a safetensors file: its header would be longer than the file", e);
    json_error_t error;
    *out = json_loadb(file->text + HEADER_AT, (size_t)n, 0, &error);
    if (!*out)
        return err_fail(e, ERR_INPUT, "%s: the header is not JSON: %.100s", file->name, error.text);
    *values = HEADER_AT + (size_t)n;
    if (json_is_object(*out))
        return OK;
    json_decref(*out);
    return bad(file, "the header is not a JSON object", e);
}

enum err_code safetensors_architecture(char **out, struct arena *a, const struct source_text *file,
                                       struct err *e)
{
    json_t *header = NULL;
    size_t values;
    enum err_code code = err_up(e, open_header(&header, &values, file, e));
    if (code)
        return code;
    const char *text =
        json_string_value(json_object_get(json_object_get(header, "__metadata__"), "architecture"));
    if (text)
        *out = arena_strdup(a, text);
    else
        code = bad(file, "its metadata has no 'architecture' (docs/models.md)", e);
    json_decref(header);
    return code;
}

/* Finds the offset of the parameter's values; checks the tensor's type and shape. */
static enum err_code find(size_t *at, const struct nn_param *p, json_t *header, size_t values,
                          const struct source_text *file, struct err *e)
{
    json_t *t = json_object_get(header, p->name), *shape = json_object_get(t, "shape");
    json_t *offsets = json_object_get(t, "data_offsets");
    const char *dtype = json_string_value(json_object_get(t, "dtype"));
    if (!t)
        return err_fail(e, ERR_INPUT, "%s: tensor '%s' is missing", file->name, p->name);
    if (!dtype || strcmp(dtype, "F32") != 0)
        return err_fail(e, ERR_INPUT, "%s: tensor '%s' is of type %.20s; only F32 is supported",
                        file->name, p->name, dtype ? dtype : "unknown");
    bool fits = json_array_size(shape) == p->rank;
    for (uint32_t i = 0; fits && i < p->rank; i++)
        fits = json_integer_value(json_array_get(shape, i)) == (json_int_t)p->shape[i];
    if (!fits)
        return err_fail(e, ERR_INPUT, "%s: tensor '%s' has the wrong shape for its model",
                        file->name, p->name);
    json_int_t from = json_integer_value(json_array_get(offsets, 0));
    json_int_t to = json_integer_value(json_array_get(offsets, 1));
    size_t room = file->len - values, bytes = p->size * sizeof(float);
    if (json_array_size(offsets) != 2 || from < 0 || to < from || (uint64_t)to > room ||
        (uint64_t)(to - from) != bytes)
        return err_fail(e, ERR_INPUT, "%s: tensor '%s' is outside the file or has the wrong size",
                        file->name, p->name);
    *at = values + (size_t)from;
    return OK;
}

static bool is_parameter(const struct nn_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->params[i].name, name) == 0)
            return true;
    return false;
}

/* Checks that no tensor is left over; the error names the alphabetically first one. */
static enum err_code check_rest(const struct nn_table *t, json_t *header,
                                const struct source_text *file, struct err *e)
{
    const char *key, *first = NULL;
    json_t *value;
    json_object_foreach(header, key, value)
    {
        if (strcmp(key, "__metadata__") != 0 && !is_parameter(t, key) &&
            (!first || strcmp(key, first) < 0))
            first = key;
    }
    if (!first)
        return OK;
    return err_fail(
        e, ERR_INPUT, "%s: the model has no tensor '%.80s'%s", file->name, first,
        strstr(first, "attn") && strstr(first, "bias") ? " (with attention_bias it would)" : "");
}

enum err_code safetensors_weights(float *weights, const struct nn_table *t,
                                  const struct source_text *file, struct err *e)
{
    json_t *header = NULL;
    size_t values, at = 0;
    enum err_code code = err_up(e, open_header(&header, &values, file, e));
    for (size_t i = 0; i < t->n && !code; i++) {
        const struct nn_param *p = &t->params[i];
        code = err_up(e, find(&at, p, header, values, file, e));
        if (!code)
            memcpy(weights + p->at, file->text + at, p->size * sizeof(float));
    }
    if (!code)
        code = err_up(e, check_rest(t, header, file, e));
    json_decref(header);
    return code;
}
