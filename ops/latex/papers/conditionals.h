/* Conditionals of TeX and choices by argument, as far as the paper's definitions decide them. A
 * branch that is not taken is skipped, and the displays in it are counted. Of a condition that is
 * not decided here (the value of a counter, a package's state) both branches are read, which is a
 * problem of the paper if there are displays in them. */
#pragma once

#include "ops/latex/papers/reader.h"

/* Reads a conditional, or a part of one, if `word` is such; the cursor is behind it. Returns false,
 * and reads nothing, if it is none. */
bool conditional_read(struct reader *r, struct piece word, struct cursor *c);
