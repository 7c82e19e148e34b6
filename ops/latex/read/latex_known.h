/* Which nodes of KaTeX's parse tree the reader knows, with which attributes. */
#pragma once

#include "ops/latex/read/latex_nodes.h"

/* Refuses a tree in which a node, or an attribute of one, is unknown, by the command that was typed
 * there. Every reading begins with this: what follows need not look at attributes again. */
bool latex_check_known(struct latex_reading *r, const json_t *tree);
