/* The op `export-corpus`: writes clusters as a file for other programs. */
#include "engine/op.h"
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/own/own.h"

#include <string.h>

static const struct op_param params[] = {
    {"format", OP_ENUM, "e-gen", CORPUS_WRITTEN_NAMES, 0, 0, "docs/formats.md."},
    {"pairs", OP_INT, "100", NULL, 0, 1e9,
     "pairs, triplets: the number of ordered pairs drawn from each cluster; 0: all."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the draw."},
    {"notation", OP_ENUM, "prefix", "prefix|words", 0, 0,
     "Prefix tokens, `+ x 2`, or words as in EED, `add x INT+ 2`."},
    {"lines", OP_ENUM, "tsv", "tsv|jsonl", 0, 0,
     "pairs, triplets: tab-separated columns, or JSON objects of input and output, or of anchor, "
     "positive and negative."},
    {"shards", OP_INT, "1", NULL, 1, 1e6,
     "The number of files over which the clusters are "
     "distributed in turn."},
    {"shard", OP_INT, "0", NULL, 0, 1e6, "The number of this file, from 0."},
    {NULL},
};

static const char *media_type(enum corpus_format format, bool json)
{
    switch (format) {
    case CORPUS_E_GEN:
    case CORPUS_EXPRESSIONS: return "text/plain; charset=utf-8";
    case CORPUS_PAIRS:
    case CORPUS_TRIPLETS: return json ? "application/jsonl" : "text/tab-separated-values";
    case CORPUS_JSONL:
    case CORPUS_SEMVEC:
    case CORPUS_FORMATS: break;
    }
    return "application/json";
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    if (op_int(ctx, "shard") >= op_int(ctx, "shards"))
        return err_fail(e, ERR_INPUT, "'shard' counts from 0 and must be less than 'shards', %lld",
                        (long long)op_int(ctx, "shards"));
    enum corpus_format format = corpus_format_find(op_string(ctx, "format"));
    if (format == CORPUS_SEMVEC &&
        (op_int(ctx, "shards") > 1 || !strcmp(op_string(ctx, "notation"), "words")))
        return err_fail(e, ERR_INPUT, "the format semvec has infix tokens and cannot be sharded");
    return OK;
}

struct output {
    struct op_ctx *ctx;
    struct op_writer writer;
    uint64_t bytes;
};

static enum err_code flush(void *arg, struct buf *text, struct err *e)
{
    struct output *o = arg;
    if (op_cancelled(o->ctx))
        return err_fail(e, ERR_CANCELLED, "cancelled");
    enum err_code code = op_write(&o->writer, o->ctx, span_of(text->data, text->len), e);
    o->bytes += text->len;
    op_progress(o->ctx, 0, 0,
                arena_printf(op_arena(o->ctx), "%llu MB", (unsigned long long)(o->bytes >> 20)));
    buf_clear(text);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct output output = {.ctx = ctx};
    size_t n = op_count(ctx, "clusters");
    Eqloom__Cluster **clusters = arena_array(a, Eqloom__Cluster *, n + 1);
    struct corpus_write_options options = {
        .per_cluster = (uint32_t)op_int(ctx, "pairs"),
        .seed = (uint64_t)op_int(ctx, "seed"),
        .words = !strcmp(op_string(ctx, "notation"), "words"),
        .json = !strcmp(op_string(ctx, "lines"), "jsonl"),
        .shard = (size_t)op_int(ctx, "shard"),
        .shards = (size_t)op_int(ctx, "shards"),
        .flush = flush,
        .arg = &output,
    };
    enum corpus_format format = corpus_format_find(op_string(ctx, "format"));
    const struct language *lang;
    enum err_code code;
    for (size_t i = 0; i < n; i++) {
        if ((code = op_get(&clusters[i], ctx, "clusters", i, e)))
            return err_up(e, code);
        if (!clusters[i]->seed)
            return err_fail(e, ERR_CORRUPT, "cluster %zu has no seed", i);
        if ((code = language_read(&lang, a, clusters[i]->seed->language, e)))
            return err_up(e, code);
    }
    struct buf text = {0};
    code = err_up(e, corpus_write(&text, format, clusters, n, &options, e));
    if (!code)
        code = op_write_end(&output.writer, ctx, "file", media_type(format, options.json), e);
    op_write_drop(&output.writer);
    buf_free(&text);
    return err_up(e, code);
}

const struct op op_export_corpus = {
    .name = "export-corpus",
    .version = 4,
    .node = OP_TASK,
    .doc =
        "Writes clusters as a file in the format of another program (docs/formats.md): E-Gen's "
        "clusters, pairs and triplets, JSON. However many pairs there are, only the clusters are "
        "in memory.",
    .params = params,
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false, "The clusters to write."}),
    .outputs = OP_PORTS({"file", KIND_FILE, OP_ONE, false, "The file, for `exports` of the job."}),
    .check = check,
    .run = run,
};
