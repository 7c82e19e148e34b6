/* Tab-separated rows; see tsv.h. */
#include "engine/export/tsv.h"

#include "engine/export/reflect.h"
#include "engine/op.h"

#include <inttypes.h>
#include <string.h>

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
    size_t n = strlen(f->name);
    if (f->type == PROTOBUF_C_TYPE_BYTES)
        return !is_list(f) && n > 3 && !strcmp(f->name + n - 3, "_id");
    return f->type != PROTOBUF_C_TYPE_MESSAGE;
}

static void print_cell(FILE *to, const json_t *value)
{
    struct arena a = {0};
    for (const char *text = reflect_text(&a, value); *text; text++)
        switch (*text) {
        case '\t': fputs("\\t", to); break;
        case '\n': fputs("\\n", to); break;
        case '\\': fputs("\\\\", to); break;
        default: fputc(*text, to);
        }
    for (size_t i = 0; i < json_array_size(value); i++) {
        fputs(i ? " " : "", to);
        print_cell(to, json_array_get(value, i));
    }
    arena_free(&a);
}

/* Takes the reference. */
static void print_value(FILE *to, json_t *value)
{
    print_cell(to, value);
    json_decref(value);
}

static json_t *infix_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    struct arena a = {0};
    json_t *text = json_string(op_infix(&a, *(const char *const *)((const char *)m + f->offset)));
    arena_free(&a);
    return text;
}

/* The fields of m, or their names; single messages one level deep. */
static void print_fields(FILE *to, const ProtobufCMessageDescriptor *type,
                         const ProtobufCMessage *m, const char *prefix, bool names)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && !is_list(f) && !*prefix) {
            const ProtobufCMessage *inner =
                m ? *(const ProtobufCMessage *const *)((const char *)m + f->offset) : NULL;
            char nested[80];
            snprintf(nested, sizeof nested, "%s.", f->name);
            print_fields(to, f->descriptor, inner, nested, names);
        }
        if (!is_column(f))
            continue;
        bool expression = !strcmp(f->name, "prefix");
        if (names) {
            if (expression)
                fprintf(to, "\t%sinfix", prefix);
            fprintf(to, "\t%s%s", prefix, f->name);
            continue;
        }
        if (expression) {
            fputc('\t', to);
            print_value(to, m ? infix_of(m, f) : NULL);
        }
        fputc('\t', to);
        print_value(to, m ? reflect_field(m, f) : NULL);
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
    const char *at = (const char *)m;
    size_t n = rows ? *(const size_t *)(at + rows->quantifier_offset) : 0;
    for (size_t i = 0; i == 0 || i < n; i++) { /* a record has a row, if its list is empty, too */
        fprintf(to, "%" PRIu64, index);
        if (rows)
            print_fields(to, rows->descriptor,
                         n ? (*(const ProtobufCMessage *const *const *)(at + rows->offset))[i]
                           : NULL,
                         "", false);
        print_fields(to, m->descriptor, m, "", false);
        fputc('\n', to);
    }
}
