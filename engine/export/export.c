#include "engine/export/export.h"

#include "checkpoint.pb-c.h"
#include "engine/export/export_safetensors.h"
#include "engine/export/npy.h"
#include "engine/export/reflect.h"
#include "engine/export/tsv.h"
#include "report.pb-c.h"
#include "store/collection/collection.h"
#include "token.pb-c.h"

#include <string.h>

struct exporter {
    struct store *store;
    struct arena arena; /* of the whole */
    struct digest id;
    struct record record;
    const struct digest *elements; /* of a collection; else the record alone */
    size_t n;
    enum record_kind kind; /* of the elements */
    struct arena scratch;  /* of one element or chunk */
    struct npy npy;
    FILE *to, *index; /* index: the file beside, of npy and safetensors */
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

static enum err_code export_jsonl(struct exporter *x, struct err *e)
{
    return err_up(e, each_element(x, write_json, e));
}

static enum err_code write_tsv(struct exporter *x, const ProtobufCMessage *m, size_t i,
                               struct err *e)
{
    if (!i)
        tsv_header(x->to, m->descriptor);
    tsv_rows(x->to, m, i);
    return OK;
}

static enum err_code export_tsv(struct exporter *x, struct err *e)
{
    return err_up(e, each_element(x, write_tsv, e));
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

/* A File's bytes, chunk by chunk. */
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
    const char *name, *index; /* the ending of the file beside; NULL: none */
    enum err_code (*write)(struct exporter *x, struct err *e);
};

static const struct export_format formats[] = {
    {"jsonl", NULL, export_jsonl}, {"tsv", NULL, export_tsv},
    {"npy", "jsonl", export_npy},  {"safetensors", "json", export_safetensors},
    {"raw", NULL, export_raw},
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
        code = f->write(&x, e);
    arena_free(&x.scratch);
    arena_free(&x.arena);
    return err_up(e, code);
}
