/* The HTML page of a search study: figures, and the results of each query as formulas. */
#pragma once

#include "base/buf.h"
#include "ops/latex/study/search/precision.h"
#include "report.pb-c.h"

struct formula {
    const char *mathml, *latex;
};

struct study_query {
    struct formula formula;
    const char *keywords; /* joined by ", " */
    struct precision precision;
    double chance; /* the relevant share of all equations */
    size_t n_shown;
    struct study_result {
        struct formula formula;
        const char *paper, *section;
        double similarity;
        bool relevant;
    } * shown;
};

/* Writes the MathML if all its elements and attributes are harmless presentation MathML, none of
 * which runs, loads or refers to anything; otherwise the LaTeX. */
void study_page_formula(struct buf *out, struct arena *a, const struct formula *f);
/* Writes the page up to its header: the heading, and what is evaluated. */
void study_page_begin(struct buf *out, const char *heading, const char *of, const char *style,
                      bool has_pictures);
void study_page_write(struct buf *out, struct arena *a, const Eqloom__Table *figures,
                      const struct study_query *queries, size_t n);
