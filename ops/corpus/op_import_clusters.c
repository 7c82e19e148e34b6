/* The op `import-clusters`: reads clusters from files of other programs. */
#include "engine/op.h"
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/source/unpack.h"

#include <string.h>

static const size_t UNPACKED_MAX = (size_t)4 << 30;

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

/* Returns a file's text; if the file is compressed, decompresses it into `out`. */
static enum err_code text_of(struct source_text *text, struct buf *out, const struct op_file *file,
                             struct err *e)
{
    struct span bytes = span_of(file->text.text, file->text.len);
    *text = file->text;
    if (!unpack_is_archive(bytes))
        return OK;
    const char *why = unpack_stream(out, bytes, UNPACKED_MAX);
    if (why)
        return err_fail(e, ERR_INPUT, "%s: %s", file->text.name, why);
    text->text = out->data ? out->data : "";
    text->len = out->len;
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct buf malformed = {0};
    bool skip = strcmp(op_string(ctx, "malformed"), "skip") == 0;
    struct corpus corpus = {.malformed = skip ? &malformed : NULL,
                            .a = op_arena(ctx),
                            .words = strcmp(op_string(ctx, "spelling"), "words") == 0};
    const struct op_file *files;
    size_t n = op_files(&files, ctx), least = (size_t)op_int(ctx, "min_members");
    struct buf unpacked = {0};
    enum err_code code = err_up(e, lang_named(&corpus.lang, op_string(ctx, "language"), e));
    if (!code)
        code = operator_files(&corpus.lang, &files, &n, op_arena(ctx), e);
    for (size_t i = 0; !code && i < n; i++) {
        struct source_text text;
        buf_clear(&unpacked);
        code = text_of(&text, &unpacked, &files[i], e);
        if (!code)
            code = corpus_read(&corpus, corpus_format_find(op_string(ctx, "format")), &text, e);
    }
    buf_free(&unpacked);
    corpus_finish(&corpus);
    if (!code)
        code = err_up(e, emit_malformed(ctx, &malformed, e));
    buf_free(&malformed);
    if (code)
        return err_up(e, code);
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
    .version = 5,
    .node = OP_SOURCE,
    .doc = "Reads corpora of equivalent expressions in the formats of other programs "
           "(docs/formats.md). Pairs with an expression in common, even in different files, become "
           "one cluster.",
    .params = OP_PARAMS(
        {"format", OP_ENUM, "e-gen", CORPUS_FORMAT_NAMES, 0, 0,
         "The format of the files (docs/formats.md): pairs for EED's, expressions for its held-out "
         "parts. Files may be compressed (.gz)."},
        {"language", OP_ENUM, "calculus", "calculus|boolean|polynomial", 0, 0,
         "The language of the expressions."},
        {"spelling", OP_ENUM, "tokens", "tokens|words", 0, 0,
         "The spelling of prefix tokens: `+ x 2`, or words as in Lample and Charton, EED and "
         "E-Gen's training data: `add x INT+ 2`."},
        {"min_members", OP_INT, "1", NULL, 1, 1e6, "Smaller clusters are left out."},
        {"malformed", OP_ENUM, "fail", "fail|skip", 0, 0,
         "Whether lines that cannot be read are an error, or are left out and listed."}),
    .outputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "The clusters of the files, unchecked."},
        {"malformed", KIND_FILE, OP_ONE, false,
         "The number of lines left out, and each of them with its position and error."}),
    .units = units,
    .run = run,
};
