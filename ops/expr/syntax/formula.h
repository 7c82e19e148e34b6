/* Expressions on pages. */
#ifndef OPS_EXPR_SYNTAX_FORMULA_H
#define OPS_EXPR_SYNTAX_FORMULA_H

#include "ops/expr/expr.h"

/* Infix text, which we wrote, as MathML; as code if it does not read back. */
void formula_write(struct buf *out, struct arena *a, const char *infix);
/* "<td>...</td>". */
void formula_write_cell(struct buf *out, struct arena *a, const char *infix);

#endif
