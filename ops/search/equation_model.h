/* A graph network with its alphabet: equations in LaTeX in, vectors out. */
#pragma once

#include "engine/tool.h"
#include "ops/latex/graphs/graph_features.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/read/expr_argument.h"
#include "ops/latex/study/search/study_page.h"
#include "ops/learn/graph/graph_embedder.h"

struct equation_model {
    const struct tool_args *args;
    struct arena arena;
    uint64_t step;
    uint32_t dim;
    struct graph_embedder *network;
    struct graph_features features;
    struct katex *katex;
    struct latex_reader *latex; /* of what is given in another syntax */
};

/* Whether a checkpoint of the store is a graph network. */
enum err_code equation_model_is(bool *yes, const struct tool_args *args,
                                const struct digest *checkpoint, struct err *e);
enum err_code equation_model_load(struct equation_model *out, const struct tool_args *args,
                                  const struct digest *checkpoint, struct err *e);
void equation_model_free(struct equation_model *m); /* zeros are fine */

/* The equation that a user wrote and its vector (dim). What has a backslash or a brace,
 * or what --syntax says, is LaTeX; else the text is an expression if it can be read as one.
 * ERR_INPUT with KaTeX's reason if it is none. All in the arena. */
enum err_code equation_model_embed(struct formula *asked, float **vector, struct equation_model *m,
                                   const char *name, const char *text, bool normalize,
                                   struct arena *a, struct err *e);
