/* Text and tables in HTML. */
#ifndef OPS_EVAL_REPORT_HTML_H
#define OPS_EVAL_REPORT_HTML_H

#include "base/buf.h"
#include "report.pb-c.h"

#include <stdbool.h>

/* &, <, >, " are escaped. */
void html_text(struct buf *out, const char *s);
/* The first rows. `named`: a row's first cell is its heading. */
void html_table(struct buf *out, const Eqloom__Table *t, const char *class, bool named);

#endif
