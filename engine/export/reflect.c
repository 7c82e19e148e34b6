/* Converts messages to JSON, and a brief form of it to indented text; see reflect.h. NaN and
 * infinities, which JSON lacks, become null. */
#include "engine/export/reflect.h"

#include "engine/op.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    ID = 32,
    SHOWN_BYTES = 16,
    SHORT = 60, /* length of texts that share a line with others */
};

struct form {
    /* Leaves out empty fields, items of lists from `limit` on, and most of bytes; the names of
     * lists include their length: "members (20)". Expressions are written in one form only. */
    bool brief;
    enum reflect_expressions as;
    size_t limit; /* SIZE_MAX unless brief */
};

char *reflect_hex(struct arena *a, const uint8_t *data, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = arena_alloc(a, 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[data[i] >> 4];
        hex[2 * i + 1] = digits[data[i] & 15];
    }
    hex[2 * n] = 0;
    return hex;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

/* Returns "2 ids: 3fa9... ...". */
static json_t *brief_bytes(struct arena *a, bool ids, const ProtobufCBinaryData *b, size_t limit)
{
    size_t n = b->len / ID;
    if (!ids)
        return json_sprintf("%zu bytes: %s%s", b->len,
                            reflect_hex(a, b->data, b->len < SHOWN_BYTES ? b->len : SHOWN_BYTES),
                            b->len > SHOWN_BYTES ? "..." : "");
    const char *text = arena_printf(a, "%zu id%s:", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n && i < limit; i++)
        text = arena_printf(a, "%s %.12s", text, reflect_hex(a, b->data + i * ID, ID));
    return json_sprintf("%s%s", text, n > limit ? " ..." : "");
}

static json_t *bytes_json(const char *name, const ProtobufCBinaryData *b, struct form form)
{
    struct arena a = {0};
    json_t *value;
    bool ids = ends_in(name, "_ids");
    if (form.brief && !ends_in(name, "_id")) {
        value = b->len ? brief_bytes(&a, ids, b, form.limit) : json_null();
    } else if (!ids) {
        value = json_string(reflect_hex(&a, b->data, b->len));
    } else {
        value = json_array();
        for (size_t i = 0; i + ID <= b->len; i += ID)
            json_array_append_new(value, json_string(reflect_hex(&a, b->data + i, ID)));
    }
    arena_free(&a);
    return value;
}

static json_t *message_json(const ProtobufCMessage *m, struct form form);

/* *size is set to the size of the item in a list. */
static json_t *item_json(size_t *size, const ProtobufCFieldDescriptor *f, const void *item,
                         struct form form)
{
    *size = 8;
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32: *size = 4; return json_integer(*(const int32_t *)item);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: *size = 4; return json_integer(*(const uint32_t *)item);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: return json_integer(*(const json_int_t *)item);
    case PROTOBUF_C_TYPE_FLOAT: {
        double v = (double)*(const float *)item;
        *size = 4;
        return isfinite(v) ? json_real(v) : json_null();
    }
    case PROTOBUF_C_TYPE_DOUBLE: {
        double v = *(const double *)item;
        return isfinite(v) ? json_real(v) : json_null();
    }
    case PROTOBUF_C_TYPE_BOOL:
        *size = sizeof(protobuf_c_boolean);
        return json_boolean(*(const protobuf_c_boolean *)item);
    case PROTOBUF_C_TYPE_ENUM: {
        int value = *(const int *)item;
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(f->descriptor, value);
        *size = sizeof value;
        if (form.brief && !value)
            return json_null();
        return v ? json_string(v->name) : json_sprintf("%d", value);
    }
    case PROTOBUF_C_TYPE_STRING: {
        json_t *text = json_string(*(const char *const *)item ? *(const char *const *)item : "");
        return text ? text : json_null();
    }
    case PROTOBUF_C_TYPE_BYTES:
        *size = sizeof(ProtobufCBinaryData);
        return bytes_json(f->name, item, form);
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessage *m = *(const ProtobufCMessage *const *)item;
        return m ? message_json(m, form) : json_null();
    }
    }
    return json_null();
}

static size_t count_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return *(const size_t *)((const char *)m + f->quantifier_offset);
}

static json_t *field_json(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                          struct form form)
{
    const char *field = (const char *)m + f->offset;
    size_t size;
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return item_json(&size, f, field, form);
    json_t *list = json_array();
    size_t n = count_of(m, f);
    field = *(const char *const *)field;
    for (size_t i = 0; i < n && i < form.limit; i++, field += size)
        json_array_append_new(list, item_json(&size, f, field, form));
    return list;
}

/* The sides of a rule are expressions, too, but their fields keep their names. */
static bool is_expression(const ProtobufCFieldDescriptor *f)
{
    return f->type == PROTOBUF_C_TYPE_STRING && f->label != PROTOBUF_C_LABEL_REPEATED &&
           (!strcmp(f->name, "prefix") || !strcmp(f->name, "lhs") || !strcmp(f->name, "rhs"));
}

static json_t *expression_json(const json_t *prefix, enum reflect_expressions as)
{
    struct arena a = {0};
    const char *tokens = json_is_string(prefix) ? json_string_value(prefix) : "";
    json_t *text = json_string(as == REFLECT_LATEX ? op_latex(&a, tokens) : op_infix(&a, tokens));
    arena_free(&a);
    return text ? text : json_null();
}

static bool is_empty(const json_t *v)
{
    return json_is_null(v) || json_is_false(v) || (json_is_string(v) && !*json_string_value(v)) ||
           (json_is_number(v) && json_number_value(v) == 0);
}

static json_t *message_json(const ProtobufCMessage *m, struct form form)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        json_t *value = field_json(m, f, form);
        bool prefix = !strcmp(f->name, "prefix");
        const char *shown = f->name;
        char name[80];
        if (form.brief && is_expression(f) && form.as != REFLECT_PREFIX) {
            json_t *text = expression_json(value, form.as);
            json_decref(value);
            value = text;
            shown = !prefix ? shown : form.as == REFLECT_LATEX ? "latex" : "infix";
        }
        if (!form.brief && prefix && form.as >= REFLECT_INFIX)
            json_object_set_new(object, "infix", expression_json(value, REFLECT_INFIX));
        if (!form.brief && prefix && form.as == REFLECT_LATEX)
            json_object_set_new(object, "latex", expression_json(value, REFLECT_LATEX));
        if (form.brief && json_is_array(value))
            snprintf(name, sizeof name, "%s (%zu)", f->name, count_of(m, f));
        if (form.brief && (json_is_array(value) ? !count_of(m, f) : is_empty(value)))
            json_decref(value);
        else
            json_object_set_new(object, form.brief && json_is_array(value) ? name : shown, value);
    }
    return object;
}

json_t *reflect_json(const ProtobufCMessage *m, enum reflect_expressions as)
{
    return message_json(m, (struct form){.as = as, .limit = SIZE_MAX});
}

json_t *reflect_field(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return field_json(m, f, (struct form){.limit = SIZE_MAX});
}

json_t *reflect_record(const struct digest *id, const struct record *r, const ProtobufCMessage *m,
                       enum reflect_expressions as)
{
    char hex[DIGEST_HEX];
    return json_pack("{s:s, s:s, s:I, s:o}", "id", digest_hex(hex, id), "kind",
                     kind_info(r->kind)->name, "bytes", (json_int_t)r->payload.len, "value",
                     reflect_json(m, as));
}

void reflect_dump(FILE *to, json_t *value)
{
    json_dumpf(value, to, JSON_COMPACT);
    fputc('\n', to);
    json_decref(value);
}

void reflect_line(FILE *to, const char *fields, ...)
{
    json_t *object = json_object();
    va_list values;
    va_start(values, fields);
    while (*fields) {
        size_t n = strcspn(fields, ":");
        json_t *value = NULL;
        const char *text;
        switch (fields[n + 1]) {
        case 's': value = (text = va_arg(values, const char *)) ? json_string(text) : NULL; break;
        case 'u': value = json_integer((json_int_t)va_arg(values, uint64_t)); break;
        case 'f': value = json_real(va_arg(values, double)); break;
        case 'b': value = json_boolean(va_arg(values, int)); break;
        case 'o': value = va_arg(values, json_t *); break;
        }
        if (value)
            json_object_setn_new(object, fields, n, value);
        fields += n + 2;
        fields += *fields == ' ';
    }
    va_end(values);
    reflect_dump(to, object);
}

/* ---- as text ---- */

const char *reflect_text(struct arena *a, const json_t *v)
{
    if (json_is_string(v))
        return arena_strdup(a, json_string_value(v));
    if (json_is_real(v))
        return arena_printf(a, "%.10g", json_real_value(v));
    if (json_is_integer(v))
        return arena_printf(a, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    return json_is_true(v)     ? "true"
           : json_is_false(v)  ? "false"
           : json_is_object(v) ? "present"
                               : "";
}

/* Text of several lines begins on a line of its own. */
static void print_plain(FILE *to, const json_t *v, int indent)
{
    struct arena a = {0};
    const char *text = reflect_text(&a, v);
    if (strchr(text, '\n'))
        fprintf(to, "\n%*s", indent, "");
    for (; *text; text++)
        if (*text != '\n')
            fputc(*text, to);
        else if (text[1])
            fprintf(to, "\n%*s", indent, "");
    arena_free(&a);
}

/* Messages of a few plain fields are printed on one line. */
static bool is_short(json_t *object)
{
    const char *name;
    json_t *v;
    json_object_foreach(object, name, v)
    {
        const char *text = json_string_value(v);
        if (json_is_object(v) || json_is_array(v) ||
            (text && (strlen(text) > SHORT || strchr(text, '\n'))))
            return false;
    }
    return true;
}

/* `hanging`: the first line follows something already written. */
static void print_object(FILE *to, json_t *object, int indent, bool hanging);

static void print_value(FILE *to, json_t *v, int indent)
{
    const char *glue = "", *name;
    json_t *field;
    if (json_is_object(v) && !is_short(v)) {
        print_object(to, v, indent, true);
        return;
    }
    if (!json_is_object(v))
        print_plain(to, v, indent + 4);
    json_object_foreach(v, name, field)
    {
        fprintf(to, "%s%s: ", glue, name);
        print_plain(to, field, 0);
        glue = ", ";
    }
    fputc('\n', to);
}

/* `name` ends with the length of the whole list. */
static void print_list(FILE *to, const char *name, const json_t *list, int indent)
{
    size_t n = json_array_size(list), all = strtoull(strrchr(name, '(') + 1, NULL, 10);
    bool numbers = json_is_number(json_array_get(list, 0));
    fputs(numbers ? "" : "\n", to);
    for (size_t i = 0; i < n; i++) {
        if (numbers) {
            fputc(' ', to);
            print_plain(to, json_array_get(list, i), 0);
        } else {
            fprintf(to, "%*s- ", indent, "");
            print_value(to, json_array_get(list, i), indent + 2);
        }
    }
    if (n < all && !numbers)
        fprintf(to, "%*s... %zu more\n", indent, "", all - n);
    if (numbers)
        fputs(n < all ? " ...\n" : "\n", to);
}

static void print_object(FILE *to, json_t *object, int indent, bool hanging)
{
    const char *name;
    json_t *v;
    json_object_foreach(object, name, v)
    {
        fprintf(to, "%*s%s:", hanging ? 0 : indent, "", name);
        hanging = false;
        if (json_is_array(v)) {
            print_list(to, name, v, indent + 2);
        } else if (json_is_object(v) && !is_short(v)) {
            fputc('\n', to);
            print_object(to, v, indent + 2, false);
        } else {
            fputc(' ', to);
            print_value(to, v, indent);
        }
    }
}

void reflect_print(FILE *to, const ProtobufCMessage *m, enum reflect_expressions as, size_t limit)
{
    json_t *object = message_json(m, (struct form){.brief = true, .as = as, .limit = limit});
    print_object(to, object, 0, false);
    json_decref(object);
}
