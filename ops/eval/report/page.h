/* The report's page: one self-contained HTML file. */
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
    Eqloom__Table *rules;              /* effects of each rule; may be NULL */
    const struct vectors *vectors;     /* drawn as points; may be NULL */
};

void page_write(struct buf *out, struct arena *a, const struct page_input *in, struct pool *pool);
/* Writes one section: the table, settings shared by all rows, explanations of the columns, and the
 * examples that the evaluations contain. */
void page_write_results(struct buf *out, struct arena *a, const struct results *r,
                        const char *part);
