/* Reading safetensors; see safetensors_read.h. */
#include "ops/learn/checkpoint/safetensors_read.h"

#include "base/buf.h"
#include "base/span.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { HEADER_MAX = 64 << 20, HEADER_AT = 8 };

static enum err_code bad(const struct source_text *file, const char *what, struct err *e)
{
    return err_fail(e, ERR_INPUT, "%s: %s", file->name, what);
}

/* The header, and where values begin. */
static enum err_code open_header(json_t **out, size_t *values, const struct source_text *file,
                                 struct err *e)
{
    if (file->len < HEADER_AT)
        return bad(file, "not a safetensors file: it ends within its first eight bytes", e);
    uint64_t n = get_le(file->text, HEADER_AT);
    if (n > HEADER_MAX || n > file->len - HEADER_AT)
        return bad(file, "not a safetensors file: its header would be longer than it is", e);
    json_error_t error;
    *out = json_loadb(file->text + HEADER_AT, (size_t)n, 0, &error);
    if (!*out)
        return err_fail(e, ERR_INPUT, "%s: the header is not JSON: %.100s", file->name, error.text);
    *values = HEADER_AT + (size_t)n;
    if (json_is_object(*out))
        return OK;
    json_decref(*out);
    return bad(file, "the header is no object", e);
}

/* "key=value" lines, sorted by key, of a flat object. */
static char *lines_of(struct arena *a, json_t *object)
{
    struct buf b = {0};
    size_t n = json_object_size(object), i = 0;
    const char **keys = arena_array(a, const char *, n), *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t at = i++;
        for (; at > 0 && strcmp(keys[at - 1], key) > 0; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
    for (i = 0; i < n; i++) {
        value = json_object_get(object, keys[i]);
        if (json_is_integer(value))
            buf_printf(&b, "%s=%lld\n", keys[i], (long long)json_integer_value(value));
        else if (json_is_boolean(value))
            buf_printf(&b, "%s=%s\n", keys[i], json_is_true(value) ? "true" : "false");
        else
            buf_printf(&b, "%s=%s\n", keys[i],
                       json_is_string(value) ? json_string_value(value) : "");
    }
    char *text = arena_strndup(a, b.data ? b.data : "", b.len);
    buf_free(&b);
    return text;
}

static enum err_code from_config(char **out, struct arena *a, const struct source_text *config,
                                 struct err *e)
{
    json_error_t error;
    json_t *root = json_loadb(config->text, config->len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return err_fail(e, ERR_INPUT, "%s:%d:%d: %.100s", config->name, error.line, error.column,
                        error.text);
    json_t *architecture = json_object_get(root, "architecture");
    enum err_code code = OK;
    if (json_is_object(architecture))
        *out = lines_of(a, architecture);
    else
        code = bad(config, "it has no object 'architecture'", e);
    json_decref(root);
    return code;
}

enum err_code safetensors_architecture(char **out, struct arena *a, const struct source_text *file,
                                       const struct source_text *config, struct err *e)
{
    json_t *header = NULL;
    size_t values;
    if (config)
        return err_up(e, from_config(out, a, config, e));
    enum err_code code = err_up(e, open_header(&header, &values, file, e));
    if (code)
        return code;
    const char *text =
        json_string_value(json_object_get(json_object_get(header, "__metadata__"), "architecture"));
    if (text)
        *out = arena_strdup(a, text);
    else
        code = bad(file, "its metadata do not say the architecture: give a JSON file as well", e);
    json_decref(header);
    return code;
}

/* ---- types of values, little-endian ---- */

static float from_f32(const uint8_t *at)
{
    float x;
    memcpy(&x, at, sizeof x);
    return x;
}

static float from_f64(const uint8_t *at)
{
    double x;
    memcpy(&x, at, sizeof x);
    return (float)x;
}

static float from_bf16(const uint8_t *at)
{
    uint32_t bits = (uint32_t)get_le(at, 2) << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float from_f16(const uint8_t *at)
{
    enum { MAX = 31, HIDDEN = 1 << 10 };
    unsigned bits = (unsigned)get_le(at, 2), exponent = bits >> 10 & MAX;
    unsigned fraction = bits & (HIDDEN - 1);
    float x = exponent == MAX ? (fraction ? NAN : INFINITY)
              : exponent      ? ldexpf((float)(fraction | HIDDEN), (int)exponent - 25)
                              : ldexpf((float)fraction, -24);
    return bits >> 15 ? -x : x;
}

static const struct type {
    const char *name;
    size_t size;
    float (*read)(const uint8_t *at);
} types[] = {
    {"F32", 4, from_f32}, {"F64", 8, from_f64}, {"F16", 2, from_f16}, {"BF16", 2, from_bf16}};

/* NULL for those of which there are no weights. */
static const struct type *type_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

/* ---- tensors ---- */

/* Where the tensor's values are, and of which type, if it is the parameter. */
static enum err_code find(size_t *at, const struct type **type, const struct nn_param *p,
                          json_t *header, size_t values, const struct source_text *file,
                          struct err *e)
{
    json_t *t = json_object_get(header, p->name), *shape = json_object_get(t, "shape");
    json_t *offsets = json_object_get(t, "data_offsets");
    const char *dtype = json_string_value(json_object_get(t, "dtype"));
    if (!t)
        return err_fail(e, ERR_INPUT, "%s: there is no tensor '%s'", file->name, p->name);
    *type = type_of(dtype);
    if (!*type)
        return err_fail(e, ERR_INPUT,
                        "%s: tensor '%s' is of %.20s; F32, F64, F16 and BF16 can be read",
                        file->name, p->name, dtype ? dtype : "no type");
    bool fits = json_array_size(shape) == p->rank;
    for (uint32_t i = 0; fits && i < p->rank; i++)
        fits = json_integer_value(json_array_get(shape, i)) == (json_int_t)p->shape[i];
    if (!fits)
        return err_fail(e, ERR_INPUT, "%s: tensor '%s' has not the shape of its model", file->name,
                        p->name);
    json_int_t from = json_integer_value(json_array_get(offsets, 0));
    json_int_t to = json_integer_value(json_array_get(offsets, 1));
    size_t room = file->len - values, bytes = p->size * (*type)->size;
    if (json_array_size(offsets) != 2 || from < 0 || to < from || (uint64_t)to > room ||
        (uint64_t)(to - from) != bytes)
        return err_fail(e, ERR_INPUT,
                        "%s: tensor '%s' lies outside of the file, or has not its size", file->name,
                        p->name);
    *at = values + (size_t)from;
    return OK;
}

static bool is_parameter(const struct nn_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_params; i++)
        if (strcmp(m->params[i].name, name) == 0)
            return true;
    return false;
}

/* That nothing is left over; the first name by the alphabet is told. */
static enum err_code check_rest(const struct nn_model *m, json_t *header,
                                const struct source_text *file, struct err *e)
{
    const char *key, *first = NULL;
    json_t *value;
    json_object_foreach(header, key, value)
    {
        if (strcmp(key, "__metadata__") != 0 && !is_parameter(m, key) &&
            (!first || strcmp(key, first) < 0))
            first = key;
    }
    if (!first)
        return OK;
    return err_fail(
        e, ERR_INPUT, "%s: tensor '%.80s' has no place in the model%s", file->name, first,
        strstr(first, "attn") && strstr(first, "bias") ? " (with attention_bias it would)" : "");
}

static enum err_code load(float *weights, const struct nn_model *m, json_t *header, size_t values,
                          const struct source_text *file, struct err *e)
{
    for (size_t i = 0; i < m->n_params; i++) {
        const struct nn_param *p = &m->params[i];
        const struct type *type = NULL;
        size_t at = 0;
        enum err_code code = err_up(e, find(&at, &type, p, header, values, file, e));
        if (code)
            return code;
        const uint8_t *from = (const uint8_t *)file->text + at;
        for (size_t k = 0; k < p->size; k++)
            weights[p->at + k] = type->read(from + k * type->size);
    }
    return err_up(e, check_rest(m, header, file, e));
}

enum err_code safetensors_weights(float *weights, const struct nn_model *m,
                                  const struct source_text *file, struct err *e)
{
    json_t *header = NULL;
    size_t values;
    enum err_code code = err_up(e, open_header(&header, &values, file, e));
    if (!code)
        code = load(weights, m, header, values, file, e);
    json_decref(header);
    return code;
}
