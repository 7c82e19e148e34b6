/* A trained encoder with its vocabulary: expressions in, vectors out. */
#ifndef OPS_SEARCH_TEXT_MODEL_H
#define OPS_SEARCH_TEXT_MODEL_H

#include "engine/tool.h"
#include "ops/expr/expr.h"

struct text_model;

/* From a checkpoint of the store. */
enum err_code text_model_load(struct text_model **out, const struct tool_args *args,
                              const struct digest *checkpoint, struct err *e);
void text_model_free(struct text_model *m);
uint32_t text_model_dim(const struct text_model *m);
uint64_t text_model_step(const struct text_model *m);

/* Vectors of n expressions given as prefix tokens, (n, dim), in the arena. ERR_INPUT names a token
 * that the model's vocabulary lacks; ERR_LIMIT: longer than the model reads. */
enum err_code text_model_embed(float **out, const struct text_model *m, char *const *prefix,
                               size_t n, bool normalize, struct arena *a, struct err *e);

#endif
