/* The op `import-clusters`: files of others -> clusters. */
#include "engine/op.h"
#include "ops/corpus/format/corpus_format.h"
#include "ops/latex/katex/katex.h"

#include <string.h>

static const struct op_param params[] = {
    {"format", OP_ENUM, "e-gen", CORPUS_FORMAT_NAMES, 0, 0,
     "How the files are written (docs/formats.md); EED's are pairs."},
    {"language", OP_ENUM, "calculus", "calculus|boolean|polynomial", 0, 0, "Of the expressions."},
    {"min_members", OP_INT, "1", NULL, 1, 1e6, "Smaller clusters are left out."},
    {"malformed", OP_ENUM, "fail", "fail|skip", 0, 0,
     "What becomes of lines that cannot be read: an error, or they are left out and listed."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "The clusters of the files, unchecked."},
    {"malformed", KIND_FILE, OP_ONE, false,
     "How many lines were left out, and each with its place and what is wrong with it."},
    {NULL},
};

static enum err_code emit_malformed(struct op_ctx *ctx, const struct buf *malformed, struct err *e)
{
    struct buf text = {0};
    size_t n = 0;
    for (size_t i = 0; i < malformed->len; i++)
        n += malformed->data[i] == '\n';
    buf_printf(&text, "%zu malformed\n%s", n, n ? malformed->data : "");
    if (n)
        op_progress(ctx, 0, 0, arena_printf(op_arena(ctx), "%zu malformed lines left out", n));
    enum err_code code = op_emit_file(
        ctx, "malformed", (struct span){(const uint8_t *)text.data, text.len}, "text/plain", e);
    buf_free(&text);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct buf malformed = {0};
    bool skip = strcmp(op_string(ctx, "malformed"), "skip") == 0;
    struct corpus corpus = {.malformed = skip ? &malformed : NULL,
                            .a = op_arena(ctx),
                            .lang = lang_by_name(op_string(ctx, "language"))};
    const struct op_file *files;
    size_t n = op_files(&files, ctx), least = (size_t)op_int(ctx, "min_members");
    enum err_code code = OK;
    for (size_t i = 0; !code && i < n; i++)
        code = err_up(e, corpus_read(&corpus, corpus_format_find(op_string(ctx, "format")),
                                     &files[i].text, e));
    corpus_finish(&corpus);
    if (!code)
        code = err_up(e, emit_malformed(ctx, &malformed, e));
    buf_free(&malformed);
    if (code)
        return code;
    for (size_t i = 0; i < corpus.n; i++)
        if (corpus.clusters[i]->n_members >= least &&
            (code = err_up(e, op_emit(NULL, ctx, "clusters", &corpus.clusters[i]->base, e))))
            return code;
    return OK;
}

/* Terms may be LaTeX. */
static const char *units(struct op_ctx *ctx)
{
    return katex_source.digest;
}

const struct op op_import_clusters = {
    .name = "import-clusters",
    .version = 4,
    .node = OP_SOURCE,
    .doc = "Reads corpora of equivalent expressions in the formats of others (docs/formats.md). "
           "Pairs with an expression in common, in whichever files, become one cluster.",
    .params = params,
    .outputs = outputs,
    .units = units,
    .run = run,
};
