/* What is said of values and variables beside expressions, as LaTeX: points at which two differ
 * ("x = 1/2: 3 against 4"), domains ("x>0, n:integer") and conditions of rules ("nonzero(?a)"). */
#pragma once

#include "ops/expr/expr.h"

/* In the arena; what is none of these stays as it is. */
char *claim_latex(struct arena *a, const struct language *lang, const char *text);
