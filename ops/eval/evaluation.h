/* Shared by the evaluation ops: loading whole inputs, running many items in parallel, and the
 * report. */
#pragma once

#include "engine/op.h"
#include "ops/eval/measure/vectors.h"
#include "ops/eval/report/figures.h"
#include "ops/expr/lang.h"

/* An entry for tables of parameters: the name of the report in tables. */
#define EVALUATION_LABEL                                                                           \
    {                                                                                              \
        .name = "label", .type = OP_STRING, .initial = "", .names_variant = true,                  \
        .doc = "What is evaluated, in tables. The parameters of a variant are added."              \
    }

/* Reads the first n records of an input into the ctx's arena. `out` is an array of n pointers to
 * messages of one type. */
enum err_code evaluation_get(void *out, size_t n, struct op_ctx *ctx, const char *role,
                             struct err *e);
/* Reads embedding batches; ERR_INPUT for one without texts. Extends *lang, which may be NULL at
 * first, by the languages of the batches. */
enum err_code evaluation_get_texts(Eqloom__EmbeddingBatch **out, const struct language **lang,
                                   size_t n, struct op_ctx *ctx, const char *role, struct err *e);

/* Evaluates item i. The arena is scratch space. */
typedef enum err_code evaluation_item(void *arg, size_t i, struct arena *a, struct err *e);
/* Evaluates n items in parallel. Of several errors, returns that of the lowest item. */
enum err_code evaluation_run(struct op_ctx *ctx, evaluation_item *item, void *arg, size_t n,
                             struct err *e);

/* Figures of a report whose title is the op's parameter "label", or `title` if that is empty. */
struct figures evaluation_figures(struct op_ctx *ctx, const char *title);
/* Emits the op's "report"; `more` is a second table, or NULL. */
enum err_code evaluation_emit(struct op_ctx *ctx, struct figures *f, Eqloom__Table *more,
                              struct err *e);
