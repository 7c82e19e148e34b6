/* The op `export-corpus`: clusters -> a file for other programs. */
#include "engine/op.h"
#include "ops/corpus/format/corpus_format.h"

enum { MOST_BYTES = 512 << 20 }; /* of pairs: what is to be one file is in memory at once */

static const struct op_param params[] = {
    {"format", OP_ENUM, "e-gen", CORPUS_WRITTEN_NAMES, 0, 0, "docs/formats.md."},
    {"pairs", OP_INT, "100", NULL, 0, 1e9,
     "pairs, triplets: how many are drawn from each cluster, in either order; 0: all."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Of the draw."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "What to write."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"file", KIND_FILE, OP_ONE, false, "A file, to be named under `exports` of the job."},
    {NULL},
};

static const char *media_type(enum corpus_format format)
{
    switch (format) {
    case CORPUS_E_GEN: return "text/plain; charset=utf-8";
    case CORPUS_PAIRS:
    case CORPUS_TRIPLETS: return "text/tab-separated-values";
    case CORPUS_JSONL:
    case CORPUS_SEMVEC:
    case CORPUS_FORMATS: break;
    }
    return "application/json";
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, "clusters");
    Eqloom__Cluster **clusters = arena_array(a, Eqloom__Cluster *, n + 1);
    struct corpus_write_options options = {(uint32_t)op_int(ctx, "pairs"),
                                           (uint64_t)op_int(ctx, "seed"), MOST_BYTES};
    enum corpus_format format = corpus_format_find(op_string(ctx, "format"));
    enum err_code code;
    for (size_t i = 0; i < n; i++)
        if ((code = err_up(e, op_get((ProtobufCMessage **)&clusters[i], ctx, "clusters", i, e))))
            return code;
    for (size_t i = 0; i < n; i++)
        if (!clusters[i]->seed || !lang_by_name(clusters[i]->seed->language))
            return err_fail(e, ERR_CORRUPT, "cluster %zu has no seed of a known language", i);
    struct buf text = {0};
    code = err_up(e, corpus_write(&text, format, clusters, n, &options, e));
    if (!code)
        code = err_up(
            e, op_emit_file(ctx, "file", span_of(text.data, text.len), media_type(format), e));
    buf_free(&text);
    return code;
}

const struct op op_export_corpus = {
    .name = "export-corpus",
    .version = 3,
    .node = OP_TASK,
    .doc =
        "Writes clusters as a file in the formats of others (docs/formats.md): E-Gen's clusters, "
        "pairs and triplets, JSON.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .run = run,
};
