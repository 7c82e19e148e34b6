/* Tab-separated rows; see tsv.h. */
#include "engine/cli/export/tsv.h"

#include "engine/cli/records/reflect.h"

#include <inttypes.h>
#include <stdbool.h>

static bool is_list(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED;
}

static const ProtobufCFieldDescriptor *row_field(const ProtobufCMessageDescriptor *type)
{
    for (unsigned i = 0; i < type->n_fields; i++)
        if (is_list(&type->fields[i]) && type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            return &type->fields[i];
    return NULL;
}

static bool is_column(const ProtobufCFieldDescriptor *f)
{
    if (f->type == PROTOBUF_C_TYPE_BYTES)
        return !is_list(f) && reflect_bytes_kind(f) == BYTES_ID;
    return f->type != PROTOBUF_C_TYPE_MESSAGE;
}

static void print_cell(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '\t': fputs("\\t", to); break;
        case '\n': fputs("\\n", to); break;
        case '\\': fputs("\\\\", to); break;
        default: fputc(*text, to);
        }
}

static void print_field(FILE *to, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    struct arena a = {0};
    fputc('\t', to);
    for (size_t i = 0; m && i < reflect_count(m, f); i++) {
        const void *item = reflect_item(m, f, i);
        const ProtobufCBinaryData *b = item;
        if (i)
            fputc(' ', to);
        print_cell(to, f->type == PROTOBUF_C_TYPE_BYTES ? reflect_hex(&a, b->data, b->len)
                                                        : reflect_text(&a, f, item));
    }
    arena_free(&a);
}

/* The fields of m, or their names; single messages one level deep. */
static void print_fields(FILE *to, const ProtobufCMessageDescriptor *type,
                         const ProtobufCMessage *m, const char *prefix, bool names)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && !is_list(f) && !*prefix) {
            const ProtobufCMessage *inner =
                m ? *(const ProtobufCMessage *const *)reflect_item(m, f, 0) : NULL;
            char nested[80];
            snprintf(nested, sizeof nested, "%s.", f->name);
            print_fields(to, f->descriptor, inner, nested, names);
        }
        if (!is_column(f))
            continue;
        if (names)
            fprintf(to, "\t%s%s", prefix, f->name);
        else
            print_field(to, m, f);
    }
}

void tsv_header(FILE *to, const ProtobufCMessageDescriptor *type)
{
    const ProtobufCFieldDescriptor *rows = row_field(type);
    fputs("index", to);
    if (rows)
        print_fields(to, rows->descriptor, NULL, "", true);
    print_fields(to, type, NULL, "", true);
    fputc('\n', to);
}

void tsv_rows(FILE *to, const ProtobufCMessage *m, uint64_t index)
{
    const ProtobufCFieldDescriptor *rows = row_field(m->descriptor);
    for (size_t i = 0; i < (rows ? reflect_count(m, rows) : 1); i++) {
        fprintf(to, "%" PRIu64, index);
        if (rows)
            print_fields(to, rows->descriptor,
                         *(const ProtobufCMessage *const *)reflect_item(m, rows, i), "", false);
        print_fields(to, m->descriptor, m, "", false);
        fputc('\n', to);
    }
}
