/* eqloom export: records for other programs. Streams element by element into a file beside the
 * target, which then replaces it. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "checkpoint.pb-c.h"
#include "engine/cli/console/naming.h"
#include "engine/cli/export/export_safetensors.h"
#include "engine/cli/export/file_record.h"
#include "engine/cli/export/npy.h"
#include "engine/cli/export/tsv.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"
#include "schemas/canonical.h"
#include "store/collection/collection.h"
#include "token.pb-c.h"

#include <string.h>

struct exporter {
    struct cli *c;
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
        code = collection_read(&all, x->c->store, &x->id, UINT64_MAX, x->c->arena, e);
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
        code = store_get_message(&m, x->c->store, &x->elements[i], x->kind, &x->scratch, e);
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
    enum err_code code = npy_begin(&x->npy, x->to, x->index, e);
    if (!code)
        code = each_element(x, write_npy, e);
    if (!code)
        code = npy_end(&x->npy, e);
    return err_up(e, code);
}

static enum err_code get_chunk(struct span *out, void *arg, const uint8_t id[32], struct err *e)
{
    struct exporter *x = arg;
    struct digest chunk;
    ProtobufCMessage *m;
    memcpy(chunk.bytes, id, sizeof chunk.bytes);
    arena_reset(&x->scratch);
    enum err_code code = store_get_message(&m, x->c->store, &chunk, KIND_CHUNK, &x->scratch, e);
    if (!code)
        *out = span_of(((Eqloom__Chunk *)m)->data.data, ((Eqloom__Chunk *)m)->data.len);
    return err_up(e, code);
}

static enum err_code export_safetensors(struct exporter *x, struct err *e)
{
    struct arena *a = x->c->arena;
    ProtobufCMessage *m, *vocabulary = NULL;
    if (x->record.kind != KIND_CHECKPOINT)
        return err_up(e, refuse_kind(x, x->record.kind, "safetensors holds a checkpoint", e));
    enum err_code code = store_get_message(&m, x->c->store, &x->id, KIND_CHECKPOINT, a, e);
    const Eqloom__Checkpoint *checkpoint = (const Eqloom__Checkpoint *)m;
    if (!code)
        code = safetensors_write(x->to, checkpoint, get_chunk, x, e);
    if (!code && checkpoint->vocabulary_id.len == DIGEST_SIZE) {
        struct digest id;
        memcpy(id.bytes, checkpoint->vocabulary_id.data, DIGEST_SIZE);
        code = store_get_message(&vocabulary, x->c->store, &id, KIND_VOCABULARY, a, e);
    }
    if (!code)
        code = safetensors_config(x->index, checkpoint, (Eqloom__Vocabulary *)vocabulary, e);
    return err_up(e, code);
}

static enum err_code export_raw(struct exporter *x, struct err *e)
{
    if (x->record.kind == KIND_FILE)
        return err_up(e, file_record_write(x->to, x->c->store, &x->id, e));
    fwrite(x->record.payload.data, 1, x->record.payload.len, x->to);
    return OK;
}

struct format {
    const char *name, *index; /* the ending of the file beside; NULL: none */
    enum err_code (*write)(struct exporter *x, struct err *e);
};

static const struct format formats[] = {
    {"jsonl", NULL, export_jsonl}, {"tsv", NULL, export_tsv},
    {"npy", "jsonl", export_npy},  {"safetensors", "json", export_safetensors},
    {"raw", NULL, export_raw},
};
enum { FORMATS = sizeof formats / sizeof *formats, RAW = FORMATS - 1 };

/* --format, else by the ending of the path. */
static enum err_code choose_format(const struct format **out, struct cli *c, const char *path,
                                   struct err *e)
{
    const char *name = cli_value(c, "format"), *dot = strrchr(path, '.');
    const char *wanted = name ? name : dot ? dot + 1 : "", *names[FORMATS];
    *out = strcmp(wanted, "html") || name ? NULL : &formats[RAW];
    for (size_t i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        if (!strcmp(wanted, formats[i].name))
            *out = &formats[i];
    }
    if (*out)
        return OK;
    if (name)
        return err_up(e, naming_refuse(name, names, FORMATS,
                                       "formats are jsonl, tsv, npy, safetensors and raw", e,
                                       "there is no format '%.40s'", name));
    return err_fail(e, ERR_INPUT,
                    "which format? Give --format jsonl, tsv, npy, safetensors or raw");
}

static enum err_code export_to_file(struct exporter *x, const struct format *format,
                                    const char *path, struct err *e)
{
    struct arena *a = x->c->arena;
    struct out_file file, index = {0};
    const char *index_path = format->index ? arena_printf(a, "%s.%s", path, format->index) : "";
    enum err_code code = out_file_open(&file, a, path, e);
    if (code)
        return err_up(e, code);
    if (format->index)
        code = out_file_open(&index, a, index_path, e);
    x->to = file.f;
    x->index = index.f;
    if (!code)
        code = format->write(x, e);
    code = out_file_close(&index, code, e);
    code = out_file_close(&file, code, e);
    if (!code)
        fprintf(x->c->narration, "wrote %s%s%s\n", path, format->index ? " and " : "", index_path);
    return err_up(e, code);
}

enum err_code cli_export(int *status, struct cli *c, struct err *e)
{
    struct exporter x = {.c = c, .to = c->out};
    const char *path = cli_value(c, "output");
    const struct format *format;
    struct resolved ref;
    bool to_stdout = !path || !strcmp(path, "-");
    enum err_code code = choose_format(&format, c, to_stdout ? "" : path, e);
    if (!code && to_stdout && format->index)
        code = err_fail(e, ERR_INPUT, "%s needs a file: -o PATH", format->name);
    if (!code)
        code = resolve(&ref, c, c->arguments[0], e);
    if (!code)
        code = store_get(&x.record, c->store, &ref.id, c->arena, e);
    if (!code) {
        x.id = ref.id;
        code = load_elements(&x, e);
    }
    if (!code)
        code = to_stdout ? format->write(&x, e) : export_to_file(&x, format, path, e);
    arena_free(&x.scratch);
    return err_up(e, code);
}
