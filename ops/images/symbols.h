/* The symbols in LaTeX: what a reader of the picture could name. */
#ifndef OPS_IMAGES_SYMBOLS_H
#define OPS_IMAGES_SYMBOLS_H

#include "base/arena.h"

/* Each once, in the order of the text: letters, numbers, other characters, and commands with their
 * backslash, but for those that arrange or name (\left, \quad, \label{...}, \begin{...}). Returns
 * how many. */
size_t latex_symbols(const char ***out, struct arena *a, const char *latex);

#endif
