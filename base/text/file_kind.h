/* Hints for files passed to the wrong command: guesses a text's kind from its file name extension
 * and the beginnings of its lines, and names the command that reads such files. */
#pragma once

#include "base/err.h"

enum file_kind { FILE_UNKNOWN, FILE_JOB, FILE_RULES, FILE_OPERATORS, FILE_TEMPLATES };

/* After a failure to read a file as `wanted`: adds a hint if the text looks like another kind.
 * Returns code. */
enum err_code file_kind_hint(enum err_code code, enum file_kind wanted,
                             const struct source_text *source, struct err *e);
