/* What ops that evaluate have in common: whole inputs in memory, work on many items, a report. */
#pragma once

#include "engine/op.h"
#include "ops/eval/measure/vectors.h"
#include "ops/eval/report/figures.h"
#include "ops/expr/lang.h"

/* The parameter by which tables name a report; for tables of parameters. */
#define EVALUATION_LABEL                                                                           \
    {                                                                                              \
        .name = "label", .type = OP_STRING, .initial = "", .names_variant = true,                  \
        .doc = "What is evaluated, in tables. The parameters of a variant are added."              \
    }

/* The first n records of an input, in the ctx's arena. `out` has room for n pointers to messages of
 * any one type. */
enum err_code evaluation_get(void *out, size_t n, struct op_ctx *ctx, const char *role,
                             struct err *e);
/* The same of embedding batches; ERR_INPUT for one without texts. *lang becomes its extension by
 * their language, or is NULL at first. */
enum err_code evaluation_get_texts(Eqloom__EmbeddingBatch **out, const struct language **lang,
                                   size_t n, struct op_ctx *ctx, const char *role, struct err *e);

/* Evaluates item i. The arena is for work. */
typedef enum err_code evaluation_item(void *arg, size_t i, struct arena *a, struct err *e);
/* Evaluates n items in parallel. Of several errors, that of the lowest item is passed on. */
enum err_code evaluation_run(struct op_ctx *ctx, evaluation_item *item, void *arg, size_t n,
                             struct err *e);

/* Figures of a report whose title is the op's parameter "label", or else `title`. */
struct figures evaluation_figures(struct op_ctx *ctx, const char *title);
/* Emits the op's "report"; `more` is a second table, or NULL. */
enum err_code evaluation_emit(struct op_ctx *ctx, struct figures *f, Eqloom__Table *more,
                              struct err *e);
