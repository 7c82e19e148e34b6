/* Options and arguments of commands that rewrite expressions (--rules, --language, --syntax,
 * budgets, expressions), and the texts of stop reasons. */
#pragma once

#include "engine/tool.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/expr/own/operator_files.h"
#include "ops/latex/read/expr_argument.h"

/* For a tool's table of options: the rules, and how expressions are written. */
#define REWRITE_OPTIONS                                                                            \
    {"rules", "FILE", true,                                                                        \
     "use the rules of this file instead of the shipped ones; builtin:NAME is a shipped one"},     \
        {"sampled", NULL, false, "with --rules: accept rules that are not proved, and say so"},    \
        {"language", "NAME", false, "calculus (default), boolean or polynomial"},                  \
        OPERATORS_OPTION, EXPR_ARGUMENT_SYNTAX, EXPR_ARGUMENT_LATEX

/* Reads the rules files that the user named, or else those shipped for the language; selects and
 * sorts the rules like the op `rules`. *own: the user named files. */
enum err_code rewrite_read_rules(struct rules *out, bool *own, const struct tool_args *args,
                                 struct err *e);
/* `name` is used in messages. */
enum err_code rewrite_read_expr(struct expr *out, const struct tool_args *args,
                                const struct language *lang, const char *name, const char *text,
                                struct err *e);
const char *rewrite_stop_text(Eqloom__StopReason stop);
