/* Loads trained models with their vocabularies from checkpoints of the store. */
#pragma once

#include "engine/tool.h"
#include "ops/corpus/tokens/encoding.h"
#include "ops/latex/graphs/graph_features.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/read/expr_argument.h"
#include "ops/latex/study/search/study_page.h"
#include "ops/learn/graph/graph_embedder.h"
#include "ops/learn/transformer/generator.h"

/* ---- takes expressions, returns vectors, or expressions if it has a decoder ---- */

struct text_model {
    struct arena arena;
    uint64_t step;
    uint32_t dim;
    const Eqloom__Vocabulary *vocabulary;
    struct encoder encoder;
    struct loaded *model;
};

enum err_code text_model_load(struct text_model *out, const struct tool_args *args,
                              const struct digest *checkpoint, enum gpu_precision precision,
                              struct err *e);
void text_model_free(struct text_model *m); /* accepts a zeroed struct */

/* Computes the vectors of n expressions given as prefix tokens: (n, dim), in the arena. ERR_INPUT
 * if the model's vocabulary lacks a token; ERR_LIMIT if an expression is longer than the model
 * accepts. */
enum err_code text_model_embed(float **out, const struct text_model *m, char *const *prefix,
                               size_t n, bool normalize, struct arena *a, struct err *e);

/* One expression that the model wrote, as prefix tokens, which need not be well-formed. */
struct written {
    char *prefix;
    double log_probability;
};
/* Generates answers for one expression, best first, in the arena. Errors as above; ERR_INPUT also
 * if the model has no decoder. */
enum err_code text_model_generate(struct written **out, size_t *n, const struct text_model *m,
                                  char *prefix, const struct generator_options *options,
                                  struct arena *a, struct err *e);

/* ---- a graph network with its alphabet: takes equations in LaTeX, returns vectors ---- */

struct equation_model {
    const struct tool_args *args;
    struct arena arena;
    uint64_t step;
    uint32_t dim;
    struct graph_embedder *network;
    struct graph_features features;
    struct katex *katex;
    struct latex_reader *latex; /* for input in another syntax */
};

/* Whether a checkpoint of the store is a graph network. */
enum err_code equation_model_is(bool *yes, const struct tool_args *args,
                                const struct digest *checkpoint, struct err *e);
enum err_code equation_model_load(struct equation_model *out, const struct tool_args *args,
                                  const struct digest *checkpoint, struct err *e);
void equation_model_free(struct equation_model *m); /* accepts a zeroed struct */

/* Reads an equation that a user wrote and computes its vector (dim), in the arena. Text with a
 * backslash or a brace, or under --syntax, is LaTeX; other text is an expression if it parses as
 * one. ERR_INPUT with KaTeX's reason if it is not an equation. */
enum err_code equation_model_embed(struct formula *query, float **vector, struct equation_model *m,
                                   const char *name, const char *text, bool normalize,
                                   struct arena *a, struct err *e);
