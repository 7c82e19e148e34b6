/* Tables and pictures of reports in HTML. */
#pragma once

#include "base/text/html.h"
#include "report.pb-c.h"

#include <stdbool.h>

/* The first rows. `named`: a row's first cell is its heading. */
void html_table(struct buf *out, const Eqloom__Table *t, const char *class, bool named);
/* A query and its nearest, with similarities; needs img-src data:. */
void html_pictures(struct buf *out, const Eqloom__Pictures *p);
