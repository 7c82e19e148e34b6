/* A source that reads files which a node gives. */
#pragma once

#include "engine/ctx/ctx.h"

/* Sets ctx->files: those of the input JOB_FROM whose names the parameter "files" matches, all if it
 * is empty, in the order of the collection. ERR_INPUT if there is none. */
enum err_code given_files_load(struct op_ctx *ctx, struct err *e);
