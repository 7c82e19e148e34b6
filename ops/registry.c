/* The tables of all ops and tools, sorted by name: the engine's only view of them. */
#include "engine/op.h"
#include "engine/tool.h"
#include "ops/eval/report/results.h"
#include "ops/expr/expr.h"
#include "ops/expr/own/own.h"

#include <string.h>

extern const struct op op_alphabet, op_analogies, op_bag_of_features, op_certify, op_classes,
    op_crop, op_derivations, op_embed, op_embed_graphs, op_embed_images, op_embed_trees,
    op_embed_values, op_equation_statistics, op_equations, op_evaluate, op_evaluate_analogies,
    op_evaluate_derivations, op_evaluate_distances, op_evaluate_equations, op_evaluate_generation,
    op_evaluate_images, op_evaluate_masking, op_evaluate_questions, op_evaluate_search,
    op_export_corpus, op_extract, op_generate, op_glyphs, op_graphs, op_image_labels, op_images,
    op_import_clusters, op_import_model, op_import_vectors, op_index, op_join_vectors, op_mathml,
    op_merge, op_near_misses, op_papers, op_pixels, op_plot_classes, op_questions,
    op_random_expressions, op_render, op_report, op_rewrite_forms, op_rules, op_saturate, op_split,
    op_split_images, op_split_papers, op_templates, op_tfidf, op_tokenize, op_tokenize_equations,
    op_tokenize_exercises, op_train, op_train_graphs, op_train_images, op_train_trees, op_verify,
    op_vocabulary, op_whiten_graphs;

const struct op *const op_table[] = {
    &op_alphabet,
    &op_analogies,
    &op_bag_of_features,
    &op_certify,
    &op_classes,
    &op_crop,
    &op_derivations,
    &op_embed,
    &op_embed_graphs,
    &op_embed_images,
    &op_embed_trees,
    &op_embed_values,
    &op_equation_statistics,
    &op_equations,
    &op_evaluate,
    &op_evaluate_analogies,
    &op_evaluate_derivations,
    &op_evaluate_distances,
    &op_evaluate_equations,
    &op_evaluate_generation,
    &op_evaluate_images,
    &op_evaluate_masking,
    &op_evaluate_questions,
    &op_evaluate_search,
    &op_exec,
    &op_export_corpus,
    &op_extract,
    &op_generate,
    &op_glyphs,
    &op_graphs,
    &op_image_labels,
    &op_images,
    &op_import_clusters,
    &op_import_model,
    &op_import_vectors,
    &op_index,
    &op_join_vectors,
    &op_mathml,
    &op_merge,
    &op_near_misses,
    &op_papers,
    &op_pixels,
    &op_plot_classes,
    &op_questions,
    &op_random_expressions,
    &op_render,
    &op_report,
    &op_rewrite_forms,
    &op_rules,
    &op_saturate,
    &op_split,
    &op_split_images,
    &op_split_papers,
    &op_templates,
    &op_tfidf,
    &op_tokenize,
    &op_tokenize_equations,
    &op_tokenize_exercises,
    &op_train,
    &op_train_graphs,
    &op_train_images,
    &op_train_trees,
    &op_verify,
    &op_vocabulary,
    &op_whiten_graphs,
    NULL,
};

extern const struct tool tool_check_rules, tool_doctor, tool_embed, tool_explain, tool_generate,
    tool_read, tool_saturate, tool_search, tool_simplify, tool_variants;

const struct tool *const tool_table[] = {&tool_check_rules,
                                         &tool_doctor,
                                         &tool_embed,
                                         &tool_explain,
                                         &tool_generate,
                                         &tool_read,
                                         &tool_saturate,
                                         &tool_search,
                                         &tool_simplify,
                                         &tool_variants,
                                         NULL};

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
