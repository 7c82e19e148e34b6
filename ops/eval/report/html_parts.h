/* Tables and pictures of reports in HTML. */
#pragma once

#include "base/text/html.h"
#include "report.pb-c.h"

#include <stdbool.h>

/* `cases`: rows are examples; otherwise the first cell of a row is its heading. */
void html_table(struct buf *out, const Eqloom__Table *t, bool cases);
/* Writes a query and its nearest pictures with similarities; the page must allow img-src data:. */
void html_pictures(struct buf *out, const Eqloom__Pictures *p);
