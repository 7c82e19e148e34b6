/* The operators of one's own of a source: in those of its files that end in .operators. */
#pragma once

#include "engine/op.h"
#include "ops/expr/lang.h"

/* *lang becomes its extension by these files; *files, *n are the others. */
enum err_code operator_files(const struct language **lang, const struct op_file **files, size_t *n,
                             struct op_ctx *ctx, struct err *e);
