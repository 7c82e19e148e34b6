/* Pictures as SVG elements: scatter, lines, bars. Colours come from the page's style sheet where
 * they must follow light and dark. */
#ifndef OPS_EVAL_REPORT_CHART_H
#define OPS_EVAL_REPORT_CHART_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdint.h>

struct chart_point {
    float x, y;
    uint32_t group;    /* its colour */
    const char *title; /* shown on pointing; text, not HTML */
};
/* `labels`, by group, are written near the group's middle where there is room; NULL entries none.
 */
void chart_scatter(struct buf *out, struct arena *a, const struct chart_point *points, size_t n,
                   const char *const *labels, uint32_t n_groups);

/* One line; x ascending. */
void chart_line(struct buf *out, const char *title, const double *x, const double *y, size_t n);

struct chart_bar {
    const char *name;
    double value;
};
/* Horizontal bars from 0, each with its name and value. */
void chart_bars(struct buf *out, const struct chart_bar *bars, size_t n);

#endif
