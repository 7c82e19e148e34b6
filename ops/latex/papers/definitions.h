/* Definitions of macros: \newcommand and its kin, \def, \let, \newenvironment, xparse's,
 * \DeclareMathOperator, \DeclarePairedDelimiter. */
#pragma once

#include "ops/latex/papers/macro_table.h"

/* The command was read; the cursor is behind it. False, and nothing read, if it defines nothing. A
 * definition in a form that is not known is read over as far as it is understood. */
bool definition_read(struct macro_table *t, struct piece command, struct cursor *c);
