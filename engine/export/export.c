#include "engine/export/export.h"

#include "checkpoint.pb-c.h"
#include "engine/export/export_safetensors.h"
#include "engine/export/npy.h"
#include "engine/export/reflect.h"
#include "engine/op.h"
#include "report.pb-c.h"
#include "store/collection/collection.h"
#include "token.pb-c.h"

#include <inttypes.h>
#include <string.h>

struct exporter {
    struct store *store;
    struct arena arena; /* lives as long as the exporter */
    struct digest id;
    struct record record;
    const struct digest *elements; /* of a collection; else only the record */
    size_t n;
    enum record_kind kind; /* of the elements */
    struct arena scratch;  /* of one element or chunk */
    struct npy npy;
    FILE *to, *index; /* index: the second file of npy and safetensors */
};

static enum err_code load_elements(struct exporter *x, struct err *e)
{
    struct collection_head all = {.element = x->record.kind, .ids = &x->id, .n = 1};
    enum err_code code = OK;
    if (x->record.kind == KIND_COLLECTION)
        code = collection_read(&all, x->store, &x->id, UINT64_MAX, &x->arena, e);
    x->elements = all.ids;
    x->n = all.n;
    x->kind = all.element;
    return err_up(e, code);
}

typedef enum err_code write_element(struct exporter *x, const ProtobufCMessage *m, size_t i,
                                    struct err *e);

static enum err_code each_element(struct exporter *x, write_element *write, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; !code && i < x->n; i++) {
        ProtobufCMessage *m;
        code = store_get_message(&m, x->store, &x->elements[i], x->kind, &x->scratch, e);
        if (!code)
            code = write(x, m, i, e);
        arena_reset(&x->scratch);
    }
    return err_up(e, code);
}

static enum err_code refuse_kind(const struct exporter *x, enum record_kind kind,
                                 const char *message, struct err *e)
{
    const struct kind_info *info = kind_info(kind);
    return err_fail(e, ERR_INPUT, "%s, not %s", message, info ? info->name : "?");
}

/* ---- tab-separated rows ----
 *
 * One for each item of the type's first list of messages (a cluster's members), or one for each
 * message if the type has none. Columns: "index" (of the element), the item's plain fields, then
 * the element's own; fields of single messages are named "seed.prefix". Lists of plain values are
 * joined by blanks; bytes are left out unless they are one id. In cells, tab, newline and backslash
 * are written \t, \n and \\. */

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

/* Steals the reference. */
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

/* Prints the fields of m, or their names, including those of single messages one level deep. */
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
    for (size_t i = 0; i == 0 || i < n; i++) { /* a record has a row even if its list is empty */
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

/* ---- the formats ---- */

static enum err_code write_json(struct exporter *x, const ProtobufCMessage *m, size_t i,
                                struct err *e)
{
    char hex[DIGEST_HEX];
    json_t *line =
        json_pack("{s:I, s:s}", "index", (json_int_t)i, "id", digest_hex(hex, &x->elements[i]));
    json_object_update_new(line, reflect_json(m, REFLECT_INFIX));
    reflect_dump(x->to, line);
    return OK;
}

static enum err_code write_tsv(struct exporter *x, const ProtobufCMessage *m, size_t i,
                               struct err *e)
{
    if (!i)
        tsv_header(x->to, m->descriptor);
    tsv_rows(x->to, m, i);
    return OK;
}

static enum err_code write_npy(struct exporter *x, const ProtobufCMessage *m, size_t i,
                               struct err *e)
{
    return err_up(e, npy_add(&x->npy, (const Eqloom__EmbeddingBatch *)m, e));
}

static enum err_code export_npy(struct exporter *x, struct err *e)
{
    if (x->kind != KIND_EMBEDDING_BATCH)
        return err_up(e, refuse_kind(x, x->kind, "npy holds embeddings", e));
    npy_begin(&x->npy, x->to, x->index);
    enum err_code code = each_element(x, write_npy, e);
    if (!code)
        code = npy_end(&x->npy, e);
    return err_up(e, code);
}

static enum err_code get_chunk(struct span *out, void *arg, const uint8_t id[32], struct err *e)
{
    struct exporter *x = arg;
    Eqloom__Chunk *m;
    arena_reset(&x->scratch);
    enum err_code code =
        store_get_message(&m, x->store, (const struct digest *)id, KIND_CHUNK, &x->scratch, e);
    if (!code)
        *out = span_of(m->data.data, m->data.len);
    return err_up(e, code);
}

static enum err_code export_safetensors(struct exporter *x, struct err *e)
{
    struct arena *a = &x->arena;
    const Eqloom__Checkpoint *checkpoint;
    const Eqloom__Vocabulary *vocabulary = NULL;
    if (x->record.kind != KIND_CHECKPOINT)
        return err_up(e, refuse_kind(x, x->record.kind, "safetensors holds a checkpoint", e));
    enum err_code code = store_get_message(&checkpoint, x->store, &x->id, KIND_CHECKPOINT, a, e);
    if (!code)
        code = safetensors_write(x->to, checkpoint, get_chunk, x, e);
    if (!code && checkpoint->vocabulary_id.len == DIGEST_SIZE)
        code = store_get_message(&vocabulary, x->store,
                                 (const struct digest *)checkpoint->vocabulary_id.data,
                                 KIND_VOCABULARY, a, e);
    if (!code)
        safetensors_config(x->index, checkpoint, vocabulary);
    return err_up(e, code);
}

/* Writes a File's bytes chunk by chunk. */
static enum err_code export_file(struct exporter *x, struct err *e)
{
    const Eqloom__File *file;
    enum err_code code = store_get_message(&file, x->store, &x->id, KIND_FILE, &x->arena, e);
    if (!code)
        fwrite(file->data.data, 1, file->data.len, x->to);
    for (size_t i = 0; !code && i + DIGEST_SIZE <= file->chunk_ids.len; i += DIGEST_SIZE) {
        struct span chunk = {0};
        if (!(code = get_chunk(&chunk, x, file->chunk_ids.data + i, e)))
            fwrite(chunk.data, 1, chunk.len, x->to);
    }
    return err_up(e, code);
}

static enum err_code export_raw(struct exporter *x, struct err *e)
{
    if (x->record.kind == KIND_FILE)
        return err_up(e, export_file(x, e));
    fwrite(x->record.payload.data, 1, x->record.payload.len, x->to);
    return OK;
}

struct export_format {
    const char *name, *index; /* extension of the index file, or NULL */
    write_element *element;   /* called for each element; NULL: see `all` */
    enum err_code (*all)(struct exporter *x, struct err *e);
};

static const struct export_format formats[] = {
    {"jsonl", .element = write_json},    {"tsv", .element = write_tsv},
    {"npy", "jsonl", .all = export_npy}, {"safetensors", "json", .all = export_safetensors},
    {"raw", .all = export_raw},
};
enum { RAW = EXPORT_FORMATS - 1 };
_Static_assert(sizeof formats / sizeof *formats == EXPORT_FORMATS, "each has a name");
const char *const export_format_names[EXPORT_FORMATS] = {"jsonl", "tsv", "npy", "safetensors",
                                                         "raw"};

const struct export_format *export_format_named(const char *name)
{
    for (size_t i = 0; i < EXPORT_FORMATS; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

const struct export_format *export_format_of(const char *path, enum record_kind kind)
{
    const char *dot = strrchr(path, '.');
    if (kind == KIND_FILE || (dot && !strcmp(dot, ".html")))
        return &formats[RAW];
    return dot ? export_format_named(dot + 1) : NULL;
}

const char *export_format_index(const struct export_format *f)
{
    return f->index;
}

enum err_code export_record(FILE *to, FILE *index, struct store *s, const struct digest *id,
                            const struct export_format *f, struct err *e)
{
    struct exporter x = {.store = s, .id = *id, .to = to, .index = index};
    enum err_code code = store_get(&x.record, s, id, &x.arena, e);
    if (!code)
        code = load_elements(&x, e);
    if (!code)
        code = f->element ? each_element(&x, f->element, e) : f->all(&x, e);
    arena_free(&x.scratch);
    arena_free(&x.arena);
    return err_up(e, code);
}
