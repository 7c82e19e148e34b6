/* The texts that a command is given: its arguments and, for an argument '-', each line of standard
 * input, answered before the next is read. */
#pragma once

#include "engine/tool.h"

#include <stdbool.h>

/* Takes one text; `name` is for messages. The arena is reset afterwards. */
typedef enum err_code expr_text_take(void *arg, const char *name, const char *text, struct arena *a,
                                     struct err *e);
/* Skips empty lines. A line that is not understood (ERR_INPUT) does not end the command: it is
 * reported to the narration, with --json also as {"line": 3, "error": ...}, and counted at the end;
 * *exit_status is then 1. An argument that is not understood is an error. */
enum err_code expr_texts_each(int *exit_status, const struct tool_args *args, expr_text_take *take,
                              void *arg, struct err *e);
/* For tools that do so. */
#define EXPR_TEXTS_EXIT_CODES "0 done, 1 some lines of standard input could not be read, 2 invalid input"

/* Whether the arguments are standard input alone. */
bool expr_texts_are_lines(const struct tool_args *args);
/* A line that is not understood, as an object of JSON; `verdict` may be NULL. "column" counts in
 * the line, or in the string that has the key "in". */
char *expr_texts_malformed(struct arena *a, size_t line, const char *verdict, const struct err *e);
