/* The report's page: one HTML file that needs nothing else. */
#pragma once

#include "base/buf.h"
#include "base/pool.h"
#include "checkpoint.pb-c.h"
#include "ops/eval/measure/vectors.h"
#include "ops/eval/report/corpus_stats.h"
#include "ops/eval/report/results.h"

struct page_input {
    const char *title;
    const char *part; /* what was evaluated: "held-out clusters" */
    struct results *results;
    size_t n_results;
    Eqloom__Checkpoint *checkpoint;    /* may be NULL */
    const struct corpus_stats *corpus; /* may be NULL */
    Eqloom__Table *rules;              /* what each rule did; may be NULL */
    const struct vectors *vectors;     /* those to draw; may be NULL */
};

void page_write(struct buf *out, struct arena *a, const struct page_input *in, struct pool *pool);
/* One section of it: the table, what is the same in all rows, what the columns mean, and the
 * examples that the evaluations hold. */
void page_write_results(struct buf *out, struct arena *a, const struct results *r,
                        const char *part);
