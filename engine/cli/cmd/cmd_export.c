/* eqloom export: records for other programs. Streams element by element into a file beside the
 * target, which then takes its place. */
#include "engine/cli/console/cli.h"

#include "base/os.h"
#include "checkpoint.pb-c.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/export/export_safetensors.h"
#include "engine/cli/export/npy.h"
#include "engine/cli/export/out_file.h"
#include "engine/cli/export/tsv.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"
#include "report.pb-c.h"
#include "schemas/canonical.h"
#include "store/collection.h"
#include "token.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_JSONL, FORMAT_TSV, FORMAT_NPY, FORMAT_SAFETENSORS, FORMAT_RAW, FORMATS };
static const char *const format_names[FORMATS] = {"jsonl", "tsv", "npy", "safetensors", "raw"};

struct exporter {
    struct cli *c;
    struct store *store;
    struct resolved ref;
    struct record record;
    struct arena element; /* of one element, reset in between */
    FILE *to, *index;     /* index: the file beside of npy and safetensors */
};

/* Calls `each` for every element of a collection, or for the one record. */
static enum err_code each_element(struct exporter *x, enum record_kind *kind,
                                  enum err_code (*each)(struct exporter *x, void *arg,
                                                        const ProtobufCMessage *m, uint64_t i,
                                                        const struct digest *id, struct err *e),
                                  void *arg, struct err *e)
{
    enum { AT_ONCE = 256 };
    struct digest ids[AT_ONCE];
    struct collection *list = NULL;
    uint64_t count = 1;
    enum err_code code = OK;
    *kind = x->record.kind;
    if (x->record.kind == KIND_COLLECTION) {
        if ((code = err_up(e, collection_open(&list, x->store, &x->ref.id, e))))
            return code;
        count = collection_count(list);
        *kind = collection_element_kind(list);
    }
    ids[0] = x->ref.id;
    for (uint64_t i = 0; !code && each && i < count; i++) {
        uint64_t left = count - i;
        if (list && i % AT_ONCE == 0)
            code = err_up(e, collection_ids(ids, list, i, left < AT_ONCE ? left : AT_ONCE, e));
        ProtobufCMessage *m;
        if (!code)
            code = err_up(
                e, store_get_message(&m, x->store, &ids[i % AT_ONCE], *kind, &x->element, e));
        if (!code)
            code = err_up(e, each(x, arg, m, i, &ids[i % AT_ONCE], e));
        arena_reset(&x->element);
    }
    if (list)
        collection_close(list);
    return code;
}

static enum err_code write_json(struct exporter *x, void *arg, const ProtobufCMessage *m,
                                uint64_t i, const struct digest *id, struct err *e)
{
    char hex[DIGEST_HEX];
    json_t *line = json_pack("{s:I, s:s}", "index", (json_int_t)i, "id", digest_hex(hex, id));
    json_object_update_new(line, reflect_json(m));
    reflect_dump(x->to, line);
    return OK;
}

static enum err_code write_tsv(struct exporter *x, void *arg, const ProtobufCMessage *m, uint64_t i,
                               const struct digest *id, struct err *e)
{
    if (!i)
        tsv_header(x->to, m->descriptor);
    tsv_rows(x->to, m, i);
    return OK;
}

static enum err_code write_npy(struct exporter *x, void *arg, const ProtobufCMessage *m, uint64_t i,
                               const struct digest *id, struct err *e)
{
    return err_up(e, npy_add(arg, (const Eqloom__EmbeddingBatch *)m, e));
}

static enum err_code get_chunk(struct span *out, void *arg, const uint8_t id[32], struct err *e)
{
    struct exporter *x = arg;
    struct digest chunk;
    ProtobufCMessage *m;
    memcpy(chunk.bytes, id, DIGEST_SIZE);
    arena_reset(&x->element);
    enum err_code code =
        err_up(e, store_get_message(&m, x->store, &chunk, KIND_CHUNK, &x->element, e));
    if (!code)
        *out = span_of(((Eqloom__Chunk *)m)->data.data, ((Eqloom__Chunk *)m)->data.len);
    return code;
}

static enum err_code refuse_kind(const struct exporter *x, enum format format,
                                 enum record_kind kind, const char *wanted, struct err *e)
{
    const struct kind_info *info = kind_info(kind);
    return err_fail(e, ERR_INPUT, "%s holds %s, not %s", format_names[format], wanted,
                    info ? info->name : "?");
}

static enum err_code export_npy(struct exporter *x, struct err *e)
{
    struct npy npy;
    enum record_kind kind;
    enum err_code code = err_up(e, each_element(x, &kind, NULL, NULL, e));
    if (!code && kind != KIND_EMBEDDING_BATCH)
        return err_up(e, refuse_kind(x, FORMAT_NPY, kind, "embeddings", e));
    if (!code)
        code = err_up(e, npy_begin(&npy, x->to, x->index, e));
    if (!code)
        code = err_up(e, each_element(x, &kind, write_npy, &npy, e));
    return code ? code : err_up(e, npy_end(&npy, e));
}

/* What the tensors are and what the model reads, for other programs. */
static enum err_code export_config(struct exporter *x, const Eqloom__Checkpoint *c, struct err *e)
{
    const Eqloom__Vocabulary *vocabulary = NULL;
    if (c->vocabulary_id.len == DIGEST_SIZE) {
        struct digest id;
        ProtobufCMessage *m;
        memcpy(id.bytes, c->vocabulary_id.data, DIGEST_SIZE);
        enum err_code code =
            err_up(e, store_get_message(&m, x->store, &id, KIND_VOCABULARY, x->c->arena, e));
        if (code)
            return code;
        vocabulary = (const Eqloom__Vocabulary *)m;
    }
    return err_up(e, safetensors_config(x->index, c, vocabulary, e));
}

static enum err_code export_safetensors(struct exporter *x, struct err *e)
{
    ProtobufCMessage *m;
    if (x->record.kind != KIND_CHECKPOINT)
        return err_up(e, refuse_kind(x, FORMAT_SAFETENSORS, x->record.kind, "a checkpoint", e));
    enum err_code code =
        err_up(e, canonical_unpack(&m, x->c->arena, kind_info(KIND_CHECKPOINT)->descriptor,
                                   x->record.payload, e));
    const Eqloom__Checkpoint *checkpoint = (const Eqloom__Checkpoint *)m;
    if (!code)
        code = err_up(e, safetensors_write(x->to, checkpoint, get_chunk, x, e));
    return code ? code : err_up(e, export_config(x, checkpoint, e));
}

static enum err_code export_raw(struct exporter *x, struct err *e)
{
    ProtobufCMessage *m;
    if (x->record.kind != KIND_FILE) {
        fwrite(x->record.payload.data, 1, x->record.payload.len, x->to);
        return OK;
    }
    enum err_code code =
        err_up(e, canonical_unpack(&m, x->c->arena, kind_info(KIND_FILE)->descriptor,
                                   x->record.payload, e));
    if (code)
        return code;
    const Eqloom__File *file = (const Eqloom__File *)m;
    fwrite(file->data.data, 1, file->data.len, x->to);
    for (size_t i = 0; !code && i + DIGEST_SIZE <= file->chunk_ids.len; i += DIGEST_SIZE) {
        struct span data = {0};
        code = err_up(e, get_chunk(&data, x, file->chunk_ids.data + i, e));
        if (!code)
            fwrite(data.data, 1, data.len, x->to);
    }
    return code;
}

static enum err_code export_tsv(struct exporter *x, struct err *e)
{
    enum record_kind kind;
    return err_up(e, each_element(x, &kind, write_tsv, NULL, e));
}

static enum err_code export_as(struct exporter *x, enum format format, struct err *e)
{
    enum record_kind kind;
    switch (format) {
    case FORMAT_JSONL: return err_up(e, each_element(x, &kind, write_json, NULL, e));
    case FORMAT_TSV: return err_up(e, export_tsv(x, e));
    case FORMAT_NPY: return err_up(e, export_npy(x, e));
    case FORMAT_SAFETENSORS: return err_up(e, export_safetensors(x, e));
    case FORMAT_RAW: return err_up(e, export_raw(x, e));
    case FORMATS: break;
    }
    return OK;
}

static enum err_code choose_format(enum format *out, struct cli *c, const char *path, struct err *e)
{
    const char *name = cli_value(c, "format"), *dot = strrchr(path, '.');
    const char *wanted = name ? name : dot ? dot + 1 : "";
    for (int f = 0; f < FORMATS; f++)
        if (!strcmp(wanted, format_names[f])) {
            *out = f;
            return OK;
        }
    if (!name) {
        *out = FORMAT_RAW;
        if (strcmp(path, "-") && !strcmp(wanted, "html"))
            return OK;
        return err_fail(e, ERR_INPUT,
                        "which format? Give --format jsonl, tsv, npy, safetensors "
                        "or raw");
    }
    err_fail(e, ERR_INPUT, "there is no format '%.40s'", name);
    const char *near = err_nearest(name, format_names, FORMATS);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "formats are jsonl, tsv, npy, safetensors and raw");
    return ERR_INPUT;
}

static enum err_code export_to_file(struct exporter *x, enum format format, const char *path,
                                    struct err *e)
{
    struct arena *a = x->c->arena;
    struct out_file matrix, index = {0};
    const char *index_path =
        arena_printf(a, "%s.%s", path, format == FORMAT_NPY ? "jsonl" : "json");
    enum err_code code = err_up(e, out_file_open(&matrix, a, path, e));
    if (code)
        return code;
    if (format == FORMAT_NPY || format == FORMAT_SAFETENSORS)
        code = err_up(e, out_file_open(&index, a, index_path, e));
    x->to = matrix.f;
    x->index = index.f;
    if (!code)
        code = err_up(e, export_as(x, format, e));
    code = out_file_close(&index, code, e);
    code = out_file_close(&matrix, code, e);
    if (!code)
        fprintf(x->c->narration, "wrote %s%s%s\n", path, x->index ? " and " : "",
                x->index ? index_path : "");
    return err_up(e, code);
}

enum err_code cli_export(int *status, struct cli *c, struct err *e)
{
    struct exporter x = {.c = c, .to = c->out};
    const char *path = cli_value(c, "output");
    enum format format = FORMAT_RAW;
    char *store_path;
    path = path ? path : "-";
    bool to_stdout = !strcmp(path, "-");
    enum err_code code = err_up(e, choose_format(&format, c, path, e));
    if (!code && to_stdout && (format == FORMAT_NPY || format == FORMAT_SAFETENSORS))
        code = err_fail(e, ERR_INPUT, "%s needs a file: -o PATH", format_names[format]);
    if (!code)
        code = err_up(e, place_open(&x.store, &store_path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, resolve(&x.ref, c, x.store, c->arguments[0], e));
    if (!code)
        code = err_up(e, store_get(&x.record, x.store, &x.ref.id, c->arena, e));
    if (!code)
        code = to_stdout ? err_up(e, export_as(&x, format, e))
                         : err_up(e, export_to_file(&x, format, path, e));
    arena_free(&x.element);
    store_close(x.store);
    return code;
}
