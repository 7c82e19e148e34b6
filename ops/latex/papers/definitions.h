/* Reads what defines macros: \newcommand and its relatives, \def, \let, \newif, \newenvironment,
 * xparse's commands, \NewEnviron, \DeclareMathOperator, \DeclarePairedDelimiter and others. */
#pragma once

#include "ops/latex/papers/macros.h"

/* Whether the command begins a definition. */
bool definition_begins(struct piece command);
/* Reads a definition into the table if `command` begins one; the cursor is behind the command. A
 * definition in an unknown form is skipped as far as it can be parsed, and its name is undefined
 * then. Returns false, and reads nothing, if the command defines nothing. */
bool definition_read(struct macro_table *t, struct piece command, struct cursor *c);
