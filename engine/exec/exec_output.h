/* What a program of the op exec leaves below out/. */
#pragma once

#include "engine/op.h"

enum { EXEC_FILES_MOST = 10000, EXEC_FILE_MOST = 1 << 30 };

/* Emits every file below dir/out, by name. Fails with ERR_FAILED and the name if there is something
 * that cannot be kept: a link out of it, a pipe, a folder or file that cannot be read. */
enum err_code exec_take_output(struct op_ctx *ctx, const char *dir, struct err *e);

/* Returns a program's text with what a terminal should not be given replaced by '?'. */
const char *exec_shown(struct arena *a, const char *text);
