/* Expressions that a user asks about: arguments of the command line, and the lines of standard
 * input where an argument is '-'. */
#pragma once

#include "engine/tool.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/read/expr_argument.h"

#include <jansson.h>

/* ERR_INPUT when there are no arguments, or --syntax names none. */
enum err_code queries_check(const struct tool_args *args, struct err *e);

/* The same for each as it was given; `name` is for messages. The arena is reset afterwards. */
typedef enum err_code query_take(void *arg, const char *name, const char *text, struct arena *a,
                                 struct err *e);
enum err_code queries_each(const struct tool_args *args, query_take *take, void *arg,
                           struct err *e);

/* Answers one question. The arena is reset afterwards. */
typedef enum err_code query_answer(void *arg, const struct expr *question, struct arena *a,
                                   struct err *e);
/* Answers all, each before the next is read. Empty lines are skipped. */
enum err_code queries_answer(const struct tool_args *args, const struct language *lang,
                             query_answer *answer, void *arg, struct err *e);
/* One line; takes the reference. */
void queries_print_json(FILE *to, json_t *value);

/* The language that --language names, else the calculus, with the operators of `more`, which is
 * empty or the language of a record, and those of --operators. */
enum err_code queries_language(const struct language **out, const struct tool_args *args,
                               const char *more, struct err *e);

/* Of a tool's table of options. To start a card takes longer than a model takes for some
 * expressions. */
#define QUERIES_DEVICE                                                                             \
    {                                                                                              \
        "device", "NAME", false, "where to compute: cpu (default), cuda, cuda:N or auto"           \
    }
#define QUERIES_OPTIONS                                                                            \
    QUERIES_DEVICE, EXPR_ARGUMENT_SYNTAX, EXPR_ARGUMENT_LATEX,                                     \
        {"language", "NAME", false,                                                                \
         "of the expressions: calculus (default), boolean, polynomial"},                           \
        OPERATORS_OPTION, TOOL_JSON
