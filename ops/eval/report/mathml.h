/* Expressions as presentation MathML, which browsers draw themselves. */
#ifndef OPS_EVAL_REPORT_MATHML_H
#define OPS_EVAL_REPORT_MATHML_H

#include "base/buf.h"
#include "ops/expr/expr.h"

/* A <math> element. Parentheses show the tree: a + (b + c) is not a + b + c. */
void mathml_write(struct buf *out, const struct expr *x);
/* Text for HTML: &, <, >, " are escaped. */
void html_text(struct buf *out, const char *s);

#endif
