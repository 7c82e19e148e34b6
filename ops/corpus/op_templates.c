/* The op `templates`: makes initial expressions from template files. */
#include "base/io/text_file.h"
#include "base/text/yaml.h"
#include "ops/corpus/template/templates.h"
#include "ops/expr/own/operator_files.h"

#include "engine/op.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    const struct language *lang = &lang_calculus;
    enum err_code code = err_up(e, operator_files(&lang, &files, &n, op_arena(ctx), e));
    if (code)
        return code;
    struct source_text *sources = arena_array(a, struct source_text, n);
    for (size_t i = 0; i < n && !code; i++)
        code = text_file_decode(&sources[i], a, &files[i].text, YAML_MAX_BYTES, e);
    if (code)
        return err_up(e, code);
    struct templates_options options = {
        .seed = (uint64_t)op_int(ctx, "seed"),
        .limit = (uint64_t)op_int(ctx, "limit"),
        .calculus = lang,
    };
    struct templates t;
    code = err_up(e, templates_expand(&t, a, sources, n, &options, e));
    for (size_t i = 0; i < t.n && code == OK; i++) {
        Eqloom__Expr message;
        templates_to_message(&message, a, &t, i);
        code = err_up(e, op_emit(NULL, ctx, "exprs", &message.base, e));
    }
    return code;
}

static const char *const suffixes[] = {".yaml", ".yml", ".operators", NULL};

const struct op op_templates = {
    .name = "templates",
    .version = 4,
    .node = OP_SOURCE,
    .doc = "Makes the initial expressions from template files (docs/templates.md).",
    .params = OP_PARAMS({"seed", OP_INT, "0", NULL, 0, 9007199254740992.0,
                         "Seed for the choice of the expressions that `take` and `limit` keep."},
                        {"limit", OP_INT, "0", NULL, 0, 1e9,
                         "The maximum number of expressions, chosen by hash; 0: all."}),
    .outputs = OP_PORTS({"exprs", KIND_EXPR, OP_COLLECTION, false,
                         "The expressions, no two of them the same tree."}),
    .folder_suffixes = suffixes,
    .run = run,
};
