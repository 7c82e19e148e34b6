/* Reads the expressions of a query: arguments of the command line, and for an argument '-' the
 * lines of standard input. */
#pragma once

#include "engine/tool.h"
#include "ops/expr/own/operator_files.h"
#include "ops/expr/syntax/expr_texts.h"
#include "ops/latex/read/expr_argument.h"

#include <jansson.h>

/* ERR_INPUT if there are no arguments or --syntax is unknown. */
enum err_code queries_check(const struct tool_args *args, struct err *e);

/* Answers one query. The arena is reset afterwards. */
typedef enum err_code query_answer(void *arg, const struct expr *question, struct arena *a,
                                   struct err *e);
/* Answers all queries, each before the next is read, as expr_texts_each. */
enum err_code queries_answer(int *exit_status, const struct tool_args *args,
                             const struct language *lang, query_answer *answer, void *arg,
                             struct err *e);
/* Writes the value on one line. Steals the reference. */
void queries_print_json(FILE *to, json_t *value);

/* Returns the language of --language, else the calculus, with the operators of `more`, which is ""
 * or the language of a record, and those of --operators. */
enum err_code queries_language(const struct language **out, const struct tool_args *args,
                               const char *more, struct err *e);

/* Entries of a tool's table of options. The CPU is the default because starting a card takes longer
 * than running a model on a few expressions. */
#define QUERIES_DEVICE                                                                             \
    {                                                                                              \
        "device", "NAME", false, "where to compute: cpu (default), cuda, cuda:N or auto"           \
    }
#define QUERIES_OPTIONS                                                                            \
    QUERIES_DEVICE, EXPR_ARGUMENT_SYNTAX, EXPR_ARGUMENT_LATEX,                                     \
        {"language", "NAME", false,                                                                \
         "the language of the expressions: calculus (default), boolean, polynomial"},              \
        OPERATORS_OPTION, TOOL_JSON
