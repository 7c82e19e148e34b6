/* Reads KaTeX's parse tree as prefix tokens. */
#pragma once

#include "ops/latex/read/latex_nodes.h"

/* Returns NULL if the text is refused; then `r` says why and where. Of `r`, the arena, the
 * language, the source and the notes are given. */
const char *latex_read_tree(struct latex_reading *r, const char *json);
