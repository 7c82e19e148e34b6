/* A trained model with its vocabulary: expressions in, vectors out, or expressions if it has a
 * decoder. */
#pragma once

#include "engine/tool.h"
#include "ops/corpus/tokens/encoding.h"
#include "ops/learn/infer/generator.h"

struct text_model {
    struct arena arena;
    uint64_t step;
    uint32_t dim;
    const Eqloom__Vocabulary *vocabulary;
    struct encoder encoder;
    struct loaded *model;
};

/* From a checkpoint of the store. */
enum err_code text_model_load(struct text_model *out, const struct tool_args *args,
                              const struct digest *checkpoint, enum gpu_precision precision,
                              struct err *e);
void text_model_free(struct text_model *m); /* zeros are fine */

/* Vectors of n expressions given as prefix tokens, (n, dim), in the arena. ERR_INPUT names a token
 * that the model's vocabulary lacks; ERR_LIMIT: longer than the model reads. */
enum err_code text_model_embed(float **out, const struct text_model *m, char *const *prefix,
                               size_t n, bool normalize, struct arena *a, struct err *e);

/* One expression that the model wrote, as prefix tokens; nothing makes them well-formed. */
struct written {
    char *prefix;
    double log_probability;
};
/* What it writes for one expression, best first, in the arena. Errors as above; ERR_INPUT also if
 * it has no decoder. */
enum err_code text_model_generate(struct written **out, size_t *n, const struct text_model *m,
                                  char *prefix, const struct generator_options *options,
                                  struct arena *a, struct err *e);
