/* The tables of evaluations on the report's page. */
#pragma once

#include "base/buf.h"
#include "ops/eval/report/results.h"

/* One section: the table, what is the same in all rows, what the columns mean, and the examples
 * that the evaluations hold. `part` is what was evaluated: "held-out clusters". */
void page_write_results(struct buf *out, struct arena *a, const struct results *r,
                        const char *part);
