/* Errors as people read them: the message, and for mistakes in a text the line and a caret. */
#ifndef ENGINE_CLI_ERROR_H
#define ENGINE_CLI_ERROR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

void cli_print_error(FILE *to, const struct err *e, bool color);

#endif
