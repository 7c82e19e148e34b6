/* The op `import-clusters`: reads clusters from files of other programs. */
#include "base/io/text_file.h"
#include "engine/op.h"
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/katex/katex.h"

#include <string.h>

static enum err_code emit_malformed(struct op_ctx *ctx, const struct corpus *c, struct err *e)
{
    struct buf text = {0};
    size_t n = c->n_malformed, listed = 0;
    for (size_t i = 0; i < c->malformed.len; i++)
        listed += c->malformed.data[i] == '\n';
    buf_printf(&text, "%zu malformed\n%s", n, n ? c->malformed.data : "");
    if (listed < n)
        buf_printf(&text, "and %zu more\n", n - listed);
    if (n)
        op_note(ctx, arena_printf(op_arena(ctx), "%zu malformed line%s left out", n,
                                  n == 1 ? "" : "s"));
    enum err_code code = op_emit_file(
        ctx, "malformed", (struct span){(const uint8_t *)text.data, text.len}, "text/plain", e);
    buf_free(&text);
    return err_up(e, code);
}

static enum err_code read_files(struct corpus *corpus, struct op_ctx *ctx, struct err *e)
{
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    struct arena work = {0};
    enum err_code code = lang_named(&corpus->lang, op_string(ctx, "language"), e);
    if (!code)
        code = operator_files(&corpus->lang, &files, &n, op_arena(ctx), e);
    for (size_t i = 0; !code && i < n; i++) {
        struct source_text text;
        code = text_file_decode(&text, &work, &files[i].text, TEXT_FILE_MAX, e);
        if (!code)
            code = corpus_read(corpus, corpus_format_find(op_string(ctx, "format")), &text, e);
        arena_reset(&work);
    }
    arena_free(&work);
    corpus_finish(corpus);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct corpus corpus = {.a = op_arena(ctx),
                            .skip = strcmp(op_string(ctx, "malformed"), "skip") == 0,
                            .notation = corpus_notation_find(op_string(ctx, "notation"))};
    size_t least = (size_t)op_int(ctx, "min_members");
    corpus.n_columns = op_strings(&corpus.columns, ctx, "columns");
    enum err_code code = read_files(&corpus, ctx, e);
    if (!code)
        code = emit_malformed(ctx, &corpus, e);
    buf_free(&corpus.malformed);
    for (size_t i = 0; i < corpus.n && !code; i++)
        if (corpus.clusters[i]->n_members >= least)
            code = op_emit(NULL, ctx, "clusters", &corpus.clusters[i]->base, e);
    return err_up(e, code);
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    const char *const *names, *format = op_string(ctx, "format");
    size_t n = op_strings(&names, ctx, "columns");
    size_t wanted = corpus_columns(corpus_format_find(format));
    if (n && wanted == 1)
        return err_fail(e, ERR_INPUT, "'columns' is for pairs, triplets and expressions");
    return !n || !wanted || n == wanted
               ? OK
               : err_fail(e, ERR_INPUT, "'columns' names %zu columns, and the format %s needs %zu",
                          n, format, wanted);
}

/* Terms may be LaTeX. */
static const char *units(struct op_ctx *ctx)
{
    return katex_source.tree.digest;
}

const struct op op_import_clusters = {
    .name = "import-clusters",
    .version = 8,
    .node = OP_SOURCE,
    .doc = "Reads corpora of equivalent expressions in the formats of other programs "
           "(docs/formats.md). Pairs with an expression in common, even in different files, become "
           "one cluster.",
    .params = OP_PARAMS(
        {"format", OP_ENUM, "e-gen", CORPUS_FORMAT_NAMES, 0, 0,
         "The format of the files (docs/formats.md): pairs for EED's, expressions for its held-out "
         "parts. Files may be compressed."},
        {"language", OP_ENUM, "calculus", "calculus|boolean|polynomial", 0, 0,
         "The language of the expressions."},
        {"notation", OP_ENUM, "prefix", CORPUS_NOTATION_NAMES, 0, 0,
         "How expressions are written: prefix tokens, `+ x 2`; words as in Lample and Charton, EED "
         "and E-Gen's training data, `add x INT+ 2`; infix, `x + 2`; LaTeX; LaTeX as SymPy writes "
         "it. A text with a backslash is always LaTeX."},
        {"columns", OP_STRINGS, "",
         .doc = "pairs, triplets, expressions: the names of the columns to read, of tables with a "
                "header and tabs, commas or semicolons (CSV). By default a line has no other "
                "columns, with tabs between them, and there is no header."},
        {"min_members", OP_INT, "1", NULL, 1, 1e6, "Smaller clusters are left out."},
        {"malformed", OP_ENUM, "fail", "fail|skip", 0, 0,
         "Whether lines that cannot be read are an error, or are left out and listed."}),
    .outputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "The clusters of the files, unchecked."},
        {"malformed", KIND_FILE, OP_ONE, false,
         "The number of lines left out, and each of them with its position and error."}),
    .check = check,
    .units = units,
    .run = run,
};
