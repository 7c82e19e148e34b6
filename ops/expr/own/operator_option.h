/* The operators of one's own of a command: the option --operators. */
#pragma once

#include "engine/tool.h"
#include "ops/expr/lang.h"

/* *lang becomes its extension by the files that the option names. */
enum err_code operator_options(const struct language **lang, const struct tool_args *args,
                               struct err *e);

/* Of a tool's table of options. */
#define OPERATORS_OPTION                                                                           \
    {                                                                                              \
        "operators", "FILE", true, "operators of your own (docs/operators.md)"                     \
    }
