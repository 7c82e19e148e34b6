/* Tables and pictures of reports in HTML. */
#pragma once

#include "base/text/html.h"
#include "report.pb-c.h"

#include <stdbool.h>

/* `cases`: rows are examples; else a row's first cell is its heading. */
void html_table(struct buf *out, const Eqloom__Table *t, bool cases);
/* A query and its nearest, with similarities; needs img-src data:. */
void html_pictures(struct buf *out, const Eqloom__Pictures *p);
