/* SVG charts: scatter, lines, bars. Colours that must follow the light or dark theme come from the
 * page's style sheet. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct chart_point {
    float x, y;
    uint32_t group;    /* determines hue and shape: a hundred combinations */
    const char *title; /* tooltip; text, not HTML */
    const char *near;  /* for the page's script, unescaped */
};
/* Points of a group are consecutive; `labels`, by group, are drawn near the group's centre where
 * there is space. */
void chart_scatter(struct buf *out, const char *title, const struct chart_point *points, size_t n,
                   const char *const *labels);

struct chart_curve {
    const char *name; /* in the legend, if there are several */
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
