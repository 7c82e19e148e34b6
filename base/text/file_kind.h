/* Files that were given to the wrong command: what a text looks like, by the end of its name and
 * the beginnings of its lines, and what reads such files. */
#pragma once

#include "base/err.h"

enum file_kind { FILE_UNKNOWN, FILE_JOB, FILE_RULES, FILE_OPERATORS, FILE_TEMPLATES };

/* After a failure to read a file as `wanted`: a hint, unless it looks as wanted. Returns code. */
enum err_code file_kind_hint(enum err_code code, enum file_kind wanted,
                             const struct source_text *source, struct err *e);
