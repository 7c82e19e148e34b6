/* Claims about values and variables as LaTeX: points at which two expressions differ ("x = 1/2: 3
 * against 4"), domains ("x>0, n:integer") and conditions of rules ("nonzero(?a)"). */
#pragma once

#include "ops/expr/expr.h"

/* Returns text in the arena; text that is not a claim is returned unchanged. */
char *claim_latex(struct arena *a, const struct language *lang, const char *text);
