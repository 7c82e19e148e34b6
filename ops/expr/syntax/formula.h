/* Expressions on pages. */
#pragma once

#include "ops/expr/expr.h"

/* Infix text, which we wrote, as MathML; as code if it does not read back. */
void formula_write(struct buf *out, struct arena *a, const char *infix);
/* "<td>...</td>". */
void formula_write_cell(struct buf *out, struct arena *a, const char *infix);
