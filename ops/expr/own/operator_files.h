/* The operators of a source or command: those of files ending in .operators, or that the option
 * --operators names, and those that come with eqloom (jobs/rules/operators). A user's operator has
 * the name that both define. */
#pragma once

#include "engine/op.h"
#include "engine/tool.h"
#include "ops/expr/lang.h"

/* Extends the calculus by those that come with eqloom and whose names are not taken. */
enum err_code operators_shipped(const struct language **lang, struct arena *a, struct err *e);
/* Extends *lang by the .operators files; *files, *n become the other files. */
enum err_code operator_files(const struct language **lang, const struct op_file **files, size_t *n,
                             struct arena *a, struct err *e);
/* Extends *lang by the files that the option names. */
enum err_code operator_options(const struct language **lang, const struct tool_args *args,
                               struct err *e);

/* An entry for a tool's option table. */
#define OPERATORS_OPTION                                                                           \
    {                                                                                              \
        "operators", "FILE", true, "operators of your own (docs/operators.md)"                     \
    }
