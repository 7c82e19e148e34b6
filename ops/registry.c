/* The tables of all ops and tools, sorted by name, and the functions through which the engine uses
 * ops/. */
#include "engine/op.h"
#include "engine/tool.h"
#include "ops/eval/report/results.h"
#include "ops/expr/expr.h"
#include "ops/expr/own/own.h"

#include <string.h>

/* clang-format off */
#define OPS(X)                                                                                     \
    X(op_alphabet) X(op_analogies) X(op_bag_of_features) X(op_certify) X(op_classes) X(op_crop)    \
    X(op_derivations) X(op_embed) X(op_embed_graphs) X(op_embed_images) X(op_embed_trees)          \
    X(op_embed_values) X(op_equation_statistics) X(op_equations) X(op_evaluate)                    \
    X(op_evaluate_analogies) X(op_evaluate_derivations) X(op_evaluate_distances)                   \
    X(op_evaluate_equations) X(op_evaluate_generation) X(op_evaluate_images)                       \
    X(op_evaluate_masking) X(op_evaluate_questions) X(op_evaluate_search) X(op_exec)               \
    X(op_export_corpus) X(op_extract) X(op_generate) X(op_glyphs) X(op_graphs) X(op_image_labels)  \
    X(op_images) X(op_import_clusters) X(op_import_model) X(op_import_vectors) X(op_index)         \
    X(op_join_vectors) X(op_mathml) X(op_merge) X(op_near_misses) X(op_papers) X(op_pixels)        \
    X(op_plot_classes) X(op_questions) X(op_random_expressions) X(op_render) X(op_report)          \
    X(op_rewrite_forms) X(op_rules) X(op_saturate) X(op_split) X(op_split_images)                  \
    X(op_split_papers) X(op_templates) X(op_tfidf) X(op_tokenize) X(op_tokenize_equations)         \
    X(op_tokenize_exercises) X(op_train) X(op_train_graphs) X(op_train_images) X(op_train_trees)   \
    X(op_verify) X(op_vocabulary) X(op_whiten_graphs)
#define TOOLS(X)                                                                                   \
    X(tool_check_rules) X(tool_doctor) X(tool_embed) X(tool_explain) X(tool_generate) X(tool_read) \
    X(tool_saturate) X(tool_search) X(tool_simplify) X(tool_variants)
/* clang-format on */

#define DECLARE_OP(name) extern const struct op name;
#define DECLARE_TOOL(name) extern const struct tool name;
#define PLACE(name) &name,
OPS(DECLARE_OP)
TOOLS(DECLARE_TOOL)

const struct op *const op_table[] = {OPS(PLACE) NULL};
const struct tool *const tool_table[] = {TOOLS(PLACE) NULL};

static bool read_prefix(struct expr *out, struct arena *a, const char *prefix)
{
    static const struct language *const languages[] = {&lang_calculus, &lang_boolean};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (!expr_from_prefix(out, a, language_guess(a, languages[i], prefix), prefix, NULL))
            return true;
    return false;
}

char *op_infix(struct arena *a, const char *prefix)
{
    struct expr x;
    return read_prefix(&x, a, prefix) ? expr_infix(a, &x) : arena_strdup(a, prefix);
}

char *op_latex(struct arena *a, const char *prefix)
{
    struct expr x;
    return read_prefix(&x, a, prefix) ? expr_latex(a, &x) : arena_strdup(a, prefix);
}

char *op_formula(struct arena *a, const char *prefix)
{
    struct expr x;
    struct buf b = {0};
    if (!read_prefix(&x, a, prefix))
        return NULL;
    expr_write_mathml(&b, &x);
    return buf_text(&b, a);
}

int op_value_sense(const char *name)
{
    return results_sense(name);
}

const struct op *op_find(const char *name)
{
    for (size_t i = 0; op_table[i]; i++)
        if (strcmp(op_table[i]->name, name) == 0)
            return op_table[i];
    return NULL;
}
