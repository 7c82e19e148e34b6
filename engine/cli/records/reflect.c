/* Messages as text; see reflect.h. */
#include "engine/cli/records/reflect.h"

#include <inttypes.h>
#include <string.h>

enum { ID = 32, SHOWN_BYTES = 16 };

enum bytes_kind reflect_bytes_kind(const ProtobufCFieldDescriptor *f)
{
    size_t n = strlen(f->name);
    if (n > 3 && !strcmp(f->name + n - 3, "_id"))
        return BYTES_ID;
    if (n > 4 && !strcmp(f->name + n - 4, "_ids"))
        return BYTES_IDS;
    return BYTES_PLAIN;
}

static size_t item_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM: return 4;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    }
    return 0;
}

size_t reflect_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return 1;
    return *(const size_t *)((const char *)m + f->quantifier_offset);
}

const void *reflect_item(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, size_t i)
{
    const char *field = (const char *)m + f->offset;
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return field;
    return *(const char *const *)field + i * item_size(f->type);
}

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

char *reflect_text(struct arena *a, const ProtobufCFieldDescriptor *f, const void *item)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32: return arena_printf(a, "%" PRId32, *(const int32_t *)item);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: return arena_printf(a, "%" PRIu32, *(const uint32_t *)item);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64: return arena_printf(a, "%" PRId64, *(const int64_t *)item);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: return arena_printf(a, "%" PRIu64, *(const uint64_t *)item);
    case PROTOBUF_C_TYPE_FLOAT: return arena_printf(a, "%.7g", (double)*(const float *)item);
    case PROTOBUF_C_TYPE_DOUBLE: return arena_printf(a, "%.10g", *(const double *)item);
    case PROTOBUF_C_TYPE_BOOL: return *(const protobuf_c_boolean *)item ? "true" : "false";
    case PROTOBUF_C_TYPE_STRING: {
        const char *s = *(const char *const *)item;
        return arena_strdup(a, s ? s : "");
    }
    case PROTOBUF_C_TYPE_ENUM: {
        int value = *(const int *)item;
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(f->descriptor, value);
        return v ? arena_strdup(a, v->name) : arena_printf(a, "%d", value);
    }
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: break;
    }
    return NULL;
}

static bool is_empty(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return !reflect_count(m, f);
    const char *item = reflect_item(m, f, 0);
    if (f->type == PROTOBUF_C_TYPE_STRING)
        return !*(const char *const *)item || !**(const char *const *)item;
    if (f->type == PROTOBUF_C_TYPE_BYTES)
        return !((const ProtobufCBinaryData *)item)->len;
    for (size_t i = 0; i < item_size(f->type); i++)
        if (item[i])
            return false;
    return true;
}

static void print_bytes(FILE *to, struct arena *a, const ProtobufCFieldDescriptor *f,
                        const ProtobufCBinaryData *b, size_t limit)
{
    enum bytes_kind kind = reflect_bytes_kind(f);
    if (kind == BYTES_ID) {
        fputs(reflect_hex(a, b->data, b->len), to);
        return;
    }
    if (kind == BYTES_PLAIN) {
        size_t n = b->len < SHOWN_BYTES ? b->len : SHOWN_BYTES;
        fprintf(to, "%zu bytes: %s%s", b->len, reflect_hex(a, b->data, n), n < b->len ? "..." : "");
        return;
    }
    size_t n = b->len / ID, shown = n < limit ? n : limit;
    fprintf(to, "%zu id%s:", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < shown; i++)
        fprintf(to, " %.12s", reflect_hex(a, b->data + i * ID, ID));
    fputs(shown < n ? " ..." : "", to);
}

/* `hanging`: the first line follows something already written. */
static void print_message(FILE *to, const ProtobufCMessage *m, int indent, bool hanging,
                          size_t limit);

static void print_value(FILE *to, struct arena *a, const ProtobufCFieldDescriptor *f,
                        const void *item, int indent, size_t limit)
{
    if (f->type == PROTOBUF_C_TYPE_BYTES) {
        print_bytes(to, a, f, item, limit);
    } else {
        const char *text = reflect_text(a, f, item);
        bool lines = strchr(text, '\n') != NULL;
        if (lines)
            fprintf(to, "\n%*s", indent + 4, "");
        for (const char *p = text; *p; p++) {
            if (*p != '\n')
                fputc(*p, to);
            else if (p[1])
                fprintf(to, "\n%*s", indent + 4, "");
        }
    }
    fputc('\n', to);
}

static void print_list(FILE *to, struct arena *a, const ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *f, int indent, size_t limit)
{
    size_t n = reflect_count(m, f), shown = n < limit ? n : limit;
    bool blocks = f->type == PROTOBUF_C_TYPE_MESSAGE || f->type == PROTOBUF_C_TYPE_BYTES ||
                  f->type == PROTOBUF_C_TYPE_STRING;
    fprintf(to, "%s (%zu):%s", f->name, n, blocks ? "\n" : "");
    for (size_t i = 0; i < shown; i++) {
        const void *item = reflect_item(m, f, i);
        if (!blocks) {
            fprintf(to, " %s", reflect_text(a, f, item));
            continue;
        }
        fprintf(to, "%*s- ", indent + 2, "");
        if (f->type == PROTOBUF_C_TYPE_MESSAGE)
            print_message(to, *(const ProtobufCMessage *const *)item, indent + 4, true, limit);
        else
            print_value(to, a, f, item, indent + 2, limit);
    }
    if (shown < n)
        blocks ? fprintf(to, "%*s... %zu more\n", indent + 2, "", n - shown) : fputs(" ...", to);
    if (!blocks)
        fputc('\n', to);
}

/* Messages of a few plain fields go on one line. */
static bool is_short(const ProtobufCMessage *m)
{
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        if (is_empty(m, f))
            continue;
        if (f->label == PROTOBUF_C_LABEL_REPEATED || f->type == PROTOBUF_C_TYPE_BYTES ||
            f->type == PROTOBUF_C_TYPE_MESSAGE)
            return false;
        if (f->type == PROTOBUF_C_TYPE_STRING) {
            const char *text = *(const char *const *)reflect_item(m, f, 0);
            if (strlen(text) > 60 || strchr(text, '\n'))
                return false;
        }
    }
    return true;
}

static void print_short(FILE *to, const ProtobufCMessage *m)
{
    struct arena a = {0};
    const char *glue = "";
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        if (is_empty(m, f))
            continue;
        fprintf(to, "%s%s: %s", glue, f->name, reflect_text(&a, f, reflect_item(m, f, 0)));
        glue = ", ";
    }
    fputc('\n', to);
    arena_free(&a);
}

static void print_message(FILE *to, const ProtobufCMessage *m, int indent, bool hanging,
                          size_t limit)
{
    if (hanging && is_short(m)) {
        print_short(to, m);
        return;
    }
    struct arena a = {0};
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        if (is_empty(m, f))
            continue;
        fprintf(to, "%*s", hanging ? 0 : indent, "");
        hanging = false;
        if (f->label == PROTOBUF_C_LABEL_REPEATED) {
            print_list(to, &a, m, f, indent, limit);
            continue;
        }
        fprintf(to, "%s: ", f->name);
        const void *item = reflect_item(m, f, 0);
        const ProtobufCMessage *inner =
            f->type == PROTOBUF_C_TYPE_MESSAGE ? *(const ProtobufCMessage *const *)item : NULL;
        if (!inner) {
            print_value(to, &a, f, item, indent, limit);
        } else if (is_short(inner)) {
            print_short(to, inner);
        } else {
            fputc('\n', to);
            print_message(to, inner, indent + 2, false, limit);
        }
    }
    arena_free(&a);
}

void reflect_print(FILE *to, const ProtobufCMessage *m, size_t limit)
{
    print_message(to, m, 0, false, limit);
}
