/* Reading safetensors; see safetensors_read.h. */
#include "ops/learn/checkpoint/safetensors_read.h"

#include <jansson.h>
#include <stdlib.h>
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
    *out = json_loadb(file->text + HEADER_AT, (size_t)n, JSON_REJECT_DUPLICATES, &error);
    if (!*out && json_error_code(&error) == json_error_duplicate_key)
        return bad(file, "a key of the header occurs twice", e);
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

/* ---- where the tensors are ---- */

struct extent {
    const char *name;
    uint64_t from, to; /* in the values */
};

static int by_place(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
           : x->to != y->to   ? (x->to > y->to) - (x->to < y->to)
                              : strcmp(x->name, y->name);
}

static enum err_code read_extent(struct extent *x, json_t *tensor, const struct source_text *file,
                                 struct err *e)
{
    json_t *offsets = json_object_get(tensor, "data_offsets");
    json_t *from = json_array_get(offsets, 0), *to = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to) ||
        json_integer_value(from) < 0 || json_integer_value(to) < json_integer_value(from))
        return err_fail(e, ERR_INPUT, "%s: tensor '%.80s' has no place in the file", file->name,
                        x->name);
    x->from = (uint64_t)json_integer_value(from);
    x->to = (uint64_t)json_integer_value(to);
    return OK;
}

/* Checks that the tensors, in their order, fill the `room` after the header. */
static enum err_code check_extents(const struct extent *all, size_t n, uint64_t room,
                                   const struct source_text *file, struct err *e)
{
    uint64_t at = 0;
    for (const struct extent *x = all; x < all + n; at = x->to, x++) {
        if (x->from < at)
            return err_fail(e, ERR_INPUT, "%s: tensor '%.80s' overlaps '%.80s'", file->name,
                            x->name, x[-1].name);
        if (x->to > room)
            return err_fail(e, ERR_INPUT, "%s: tensor '%.80s' is outside the file", file->name,
                            x->name);
        if (x->from > at)
            return err_fail(e, ERR_INPUT, "%s: %llu bytes before tensor '%.80s' belong to none",
                            file->name, (unsigned long long)(x->from - at), x->name);
    }
    if (at != room)
        return err_fail(e, ERR_INPUT, "%s: %llu bytes after the last tensor", file->name,
                        (unsigned long long)(room - at));
    return OK;
}

static enum err_code check_places(json_t *header, uint64_t room, const struct source_text *file,
                                  struct err *e)
{
    struct arena a = {0};
    struct extent *all = arena_array(&a, struct extent, json_object_size(header));
    size_t n = 0;
    enum err_code code = OK;
    const char *key;
    json_t *value;
    json_object_foreach(header, key, value)
    {
        all[n].name = key;
        if (strcmp(key, "__metadata__") != 0 && !code)
            code = read_extent(&all[n++], value, file, e);
    }
    if (!code) {
        qsort(all, n, sizeof *all, by_place);
        code = check_extents(all, n, room, file, e);
    }
    arena_free(&a);
    return code;
}

/* Finds the offset of the parameter's values; checks the tensor's type and shape. The places have
 * been checked. */
static enum err_code find(size_t *at, const struct nn_param *p, json_t *header, size_t values,
                          const struct source_text *file, struct err *e)
{
    json_t *t = json_object_get(header, p->name), *shape = json_object_get(t, "shape");
    struct extent x = {.name = p->name};
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
    enum err_code code = read_extent(&x, t, file, e);
    if (!code && x.to - x.from != p->size * sizeof(float))
        code = err_fail(e, ERR_INPUT, "%s: tensor '%s' has the wrong size for its shape",
                        file->name, p->name);
    *at = values + (size_t)x.from;
    return err_up(e, code);
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
    if (!code)
        code = err_up(e, check_places(header, file->len - values, file, e));
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
