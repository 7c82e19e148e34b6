/* Options and arguments of commands that rewrite expressions: --rules, --language and --syntax,
 * budgets, expressions; and the text of a stop reason. */
#pragma once

#include "engine/tool.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/read/expr_argument.h"

/* Of a tool's table of options: which rules, and how expressions are written. */
#define REWRITE_OPTIONS                                                                            \
    {"rules", "FILE", true,                                                                        \
     "use the rules of this file instead of the shipped ones; builtin:NAME is one of those"},      \
        {"language", "NAME", false, "calculus (default), boolean or polynomial"},                  \
        OPERATORS_OPTION, EXPR_ARGUMENT_SYNTAX, EXPR_ARGUMENT_LATEX

/* Reads the rules files that the user named, or those shipped for the language; selected and sorted
 * as by the op `rules`. *own: the user named files. */
enum err_code rewrite_read_rules(struct rules *out, bool *own, const struct tool_args *args,
                                 struct err *e);
/* `name`: used in messages. */
enum err_code rewrite_read_expr(struct expr *out, const struct tool_args *args,
                                const struct language *lang, const char *name, const char *text,
                                struct err *e);
const char *rewrite_stop_text(Eqloom__StopReason stop);
