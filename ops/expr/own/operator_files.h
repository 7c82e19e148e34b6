/* The operators of one's own of a source or a command: in files that end in .operators, or that the
 * option --operators names. */
#pragma once

#include "engine/op.h"
#include "engine/tool.h"
#include "ops/expr/lang.h"

/* *lang becomes its extension by these files; *files, *n are the others. */
enum err_code operator_files(const struct language **lang, const struct op_file **files, size_t *n,
                             struct arena *a, struct err *e);
/* *lang becomes its extension by the files that the option names. */
enum err_code operator_options(const struct language **lang, const struct tool_args *args,
                               struct err *e);

/* Of a tool's table of options. */
#define OPERATORS_OPTION                                                                           \
    {                                                                                              \
        "operators", "FILE", true, "operators of your own (docs/operators.md)"                     \
    }
