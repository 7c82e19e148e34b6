/* Pictures as SVG elements: scatter, lines, bars. Colours come from the page's style sheet where
 * they must follow light and dark. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct chart_point {
    float x, y;
    uint32_t group;    /* its hue and shape: a hundred differ */
    const char *title; /* shown on pointing; text, not HTML */
    const char *near;  /* for the page's script, as it is */
};
/* The points of a group follow each other; `labels`, by group, are written near its middle where
 * there is room. */
void chart_scatter(struct buf *out, const char *title, const struct chart_point *points, size_t n,
                   const char *const *labels);

struct chart_curve {
    const char *name; /* in the legend, where there are several */
    const double *x, *y;
    size_t n;
};
/* At most two curves, x ascending; the second is dashed. */
void chart_lines(struct buf *out, const char *title, const struct chart_curve *curves, size_t n);

struct chart_bar {
    const char *name;
    double value;
};
/* Horizontal bars from 0, each with its name and value. */
void chart_bars(struct buf *out, const struct chart_bar *bars, size_t n);
