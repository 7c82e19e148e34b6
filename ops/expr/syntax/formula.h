/* Expressions in HTML pages. */
#pragma once

#include "ops/expr/expr.h"

/* Writes infix text from expr_infix as MathML, or as code if it does not parse. */
void formula_write(struct buf *out, struct arena *a, const char *infix);
/* "<td>...</td>". */
void formula_write_cell(struct buf *out, struct arena *a, const char *infix);
