/* The op `rules`: rule files -> one Rule record each, sorted by group and name. */
#include "base/io/text_file.h"
#include "engine/op.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/katex/katex.h"
#include "ops/rules/rule.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct rules rules = {.lang = &lang_calculus};
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    enum err_code code = operator_files(&rules.lang, &files, &n, a, e);
    for (size_t i = 0; !code && i < n; i++) {
        struct source_text *source = arena_new(a, struct source_text);
        code = text_file_decode(source, a, &files[i].text, RULES_MAX_FILE, e);
        if (!code)
            code = rules_parse(&rules, a, source, e);
    }
    if (code)
        return err_up(e, code);
    const char *const *include, *const *exclude;
    size_t n_include = op_strings(&include, ctx, "groups");
    size_t n_exclude = op_strings(&exclude, ctx, "exclude");
    if ((code = rules_select(&rules, include, n_include, exclude, n_exclude, e)))
        return err_up(e, code);
    rules_sort(&rules);
    for (size_t i = 0; !code && i < rules.n; i++) {
        Eqloom__Rule message;
        rule_to_message(&message, a, &rules, &rules.rules[i]);
        code = op_emit(NULL, ctx, "rules", &message.base, e);
    }
    return err_up(e, code);
}

/* Terms may be LaTeX, so results depend on the LaTeX parser. */
static const char *units(struct op_ctx *ctx)
{
    return katex_source.tree.digest;
}

static const char *const suffixes[] = {".rules", ".operators", ".rs", NULL};

const struct op op_rules = {
    .name = "rules",
    .version = 5,
    .node = OP_SOURCE,
    .doc = "Reads rewrite rules from rule files (docs/rules.md). The records do not depend on the "
           "order of files and rules, on comments or on spacing.",
    .params = OP_PARAMS(
        {"groups", OP_STRINGS, "",
         .doc = "Groups to include, each with its subgroups; by default all that are not off."},
        {"exclude", OP_STRINGS, "", .doc = "Groups to exclude, each with its subgroups."}),
    .outputs = OP_PORTS({"rules", KIND_RULE, OP_COLLECTION, .doc = "Sorted by group and name."}),
    .folder_suffixes = suffixes,
    .units = units,
    .run = run,
};
