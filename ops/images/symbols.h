/* The symbols in LaTeX: what a reader of the picture could name. */
#pragma once

#include "base/arena.h"

/* Each once, in the order of the text: letters, numbers, other characters, and commands with their
 * backslash, but for those that arrange or name (\left, \quad, \label{...}, \begin{...}). Returns
 * how many. */
size_t latex_symbols(const char ***out, struct arena *a, const char *latex);
