/* SVG charts; see chart.h. */
#include "base/text/chart.h"

#include "base/text/html.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct range {
    double low, high;
};

static void widen(struct range *r, double value)
{
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

static double place(const struct range *r, double value, double from, double to)
{
    double size = r->high - r->low;
    return size > 0 ? from + (value - r->low) / size * (to - from) : (from + to) / 2;
}

/* ---- scatter ---- */
enum { SCATTER_WIDTH = 960, SCATTER_HEIGHT = 640, MAX_LABELS = 60 };

struct box {
    double x, y, width, height;
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

/* Ten hues; each further ten groups reuse them with another shape. */
static const char *const hues[] = {"4 70% 52%",   "30 85% 48%",  "52 85% 40%",  "95 50% 42%",
                                   "150 55% 38%", "182 65% 38%", "207 75% 50%", "238 60% 62%",
                                   "280 50% 56%", "325 60% 54%"};
static const char *const shapes[] = {
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z", /* disc */
    "M-3-3h6v6h-6z",
    "M0-4.2 4 3H-4z",
    "M0-4.6 4.6 0 0 4.6-4.6 0z",
    "M0 4.2 4-3H-4z",
    "M-1.4-4h2.8v2.6H4v2.8H1.4V4h-2.8V1.4H-4v-2.8h2.6z",                       /* plus */
    "M-2-4 0-2 2-4 4-2 2 0 4 2 2 4 0 2-2 4-4 2-2 0-4-2z",                      /* cross */
    "M0-4.8 1.2-1.6 4.6-1.5 1.9.6 2.8 3.9 0 2-2.8 3.9-1.9.6-4.6-1.5-1.2-1.6z", /* star */
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0zM-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z",    /* ring */
    "M-3.8-3.8h7.6L1.2 0l2.6 3.8h-7.6L-1.2 0z",                                /* hourglass */
};
enum { HUES = sizeof hues / sizeof *hues, SHAPES = sizeof shapes / sizeof *shapes };

static void scatter_label(struct buf *out, struct box *boxes, uint32_t *n_boxes, double x, double y,
                          const char *text)
{
    size_t len = strlen(text);
    double half = 3.5 * (double)len + 2;
    if (len > 26 || *n_boxes == MAX_LABELS)
        return;
    x = fmin(fmax(x, half), SCATTER_WIDTH - half);
    struct box box = {x - half, y - 20, 2 * half, 16};
    for (uint32_t i = 0; i < *n_boxes; i++)
        if (overlap(&boxes[i], &box))
            return;
    boxes[(*n_boxes)++] = box;
    buf_printf(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", x, y - 8);
    html_text(out, text);
    buf_puts(out, "</text>\n");
}

void chart_scatter(struct buf *out, const char *title, const struct chart_point *points, size_t n,
                   const char *const *labels)
{
    struct range x = {INFINITY, -INFINITY}, y = x;
    struct box boxes[MAX_LABELS];
    uint32_t n_boxes = 0;
    for (size_t i = 0; i < n; i++) {
        widen(&x, (double)points[i].x);
        widen(&y, (double)points[i].y);
    }
    buf_printf(out, "<svg class=\"scatter\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
               SCATTER_WIDTH, SCATTER_HEIGHT);
    html_text(out, title);
    buf_puts(out, "\">\n<defs>");
    for (size_t s = 0; s < SHAPES; s++)
        buf_printf(out, "<path id=\"s%zu\" fill-rule=\"evenodd\" d=\"%s\"/>", s, shapes[s]);
    buf_puts(out, "</defs>\n");
    for (size_t i = 0; i < n;) {
        uint32_t g = points[i].group;
        buf_printf(out, "<g fill=\"hsl(%s)\">", hues[g % HUES]);
        for (; i < n && points[i].group == g; i++) {
            buf_printf(out, "<use href=\"#s%u\" x=\"%.1f\" y=\"%.1f\" data-near=\"%s\"><title>",
                       g / HUES % SHAPES, place(&x, (double)points[i].x, 14, SCATTER_WIDTH - 14),
                       place(&y, (double)points[i].y, 22, SCATTER_HEIGHT - 14), points[i].near);
            html_text(out, points[i].title);
            buf_puts(out, "</title></use>");
        }
        buf_puts(out, "</g>\n");
    }
    for (size_t i = 0; i < n;) {
        uint32_t g = points[i].group;
        double middle_x = 0, middle_y = 0, size = 0;
        for (; i < n && points[i].group == g; i++, size++) {
            middle_x += place(&x, (double)points[i].x, 14, SCATTER_WIDTH - 14);
            middle_y += place(&y, (double)points[i].y, 22, SCATTER_HEIGHT - 14);
        }
        scatter_label(out, boxes, &n_boxes, middle_x / size, middle_y / size, labels[g]);
    }
    buf_puts(out, "</svg>\n");
}

/* ---- lines ---- */
enum { LINE_WIDTH = 460, LINE_HEIGHT = 220, LINE_LEFT = 52, LINE_BOTTOM = 28, LINE_TOP = 26 };

/* Returns 1, 2 or 5 times a power of ten, for at most five steps. */
static double nice_step(double size)
{
    double step = pow(10, floor(log10(size / 5)));
    return size / step > 25 ? 10 * step : size / step > 10 ? 5 * step : 2 * step;
}

static void write_grid(struct buf *out, const struct range *x, const struct range *y)
{
    double step = y->high > y->low ? nice_step(y->high - y->low) : 1;
    for (double at = ceil(y->low / step) * step; at <= y->high + step * 1e-9; at += step) {
        double py = place(y, at, LINE_HEIGHT - LINE_BOTTOM, LINE_TOP);
        buf_printf(out,
                   "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
                   LINE_LEFT, LINE_WIDTH - 8, py, py, LINE_LEFT - 6, py + 4,
                   fabs(at) < step * 1e-6 ? 0 : at);
    }
    step = x->high > x->low ? nice_step(x->high - x->low) : 1;
    for (double at = ceil(x->low / step) * step; at <= x->high + step * 1e-9; at += step) {
        char text[40];
        buf_printf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                   place(x, at, LINE_LEFT, LINE_WIDTH - 14), LINE_HEIGHT - 8);
        snprintf(text, sizeof text, "%.9g", fabs(at) < step * 1e-6 ? 0 : at);
        html_count(out, text);
        buf_puts(out, "</text>\n");
    }
}

/* Collapses values that differ only in their last digits: they would be drawn as noise, with steps
 * too small to add up. */
static void flatten(struct range *r)
{
    if (r->high - r->low <= 1e-9 * fmax(fabs(r->low), fabs(r->high)))
        r->high = r->low;
}

static void write_curve(struct buf *out, const struct chart_curve *c, const struct range *rx,
                        const struct range *ry, const char *class)
{
    /* More than two points per pixel are not visible. */
    size_t stride = c->n / (2 * LINE_WIDTH) + 1;
    buf_printf(out, "<polyline class=\"curve%s\" points=\"", class);
    for (size_t i = 0; i < c->n; i += stride)
        if (isfinite(c->y[i]))
            buf_printf(out, "%.1f,%.1f ", place(rx, c->x[i], LINE_LEFT, LINE_WIDTH - 14),
                       place(ry, c->y[i], LINE_HEIGHT - LINE_BOTTOM, LINE_TOP));
    buf_puts(out, "\"/>");
}

static void write_legend(struct buf *out, const struct chart_curve *curves)
{
    for (int k = 0; k < 2; k++) {
        int x = LINE_WIDTH - 180 + 90 * k;
        buf_printf(out,
                   "<line class=\"curve%s\" x1=\"%d\" x2=\"%d\" y1=\"10\" y2=\"10\"/><text "
                   "class=\"tick\" x=\"%d\" y=\"14\">",
                   k ? " second" : "", x, x + 24, x + 30);
        html_text(out, curves[k].name);
        buf_puts(out, "</text>");
    }
}

void chart_lines(struct buf *out, const char *title, const struct chart_curve *curves, size_t n)
{
    struct range rx = {INFINITY, -INFINITY}, ry = rx;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < curves[k].n; i++)
            if (isfinite(curves[k].y[i])) {
                widen(&rx, curves[k].x[i]);
                widen(&ry, curves[k].y[i]);
            }
    if (!isfinite(rx.low))
        return;
    flatten(&ry);
    buf_printf(out, "<svg class=\"line\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
               LINE_WIDTH, LINE_HEIGHT);
    html_text(out, title);
    buf_printf(out,
               ", from %.4g to %.4g, lowest %.4g, highest %.4g\"><text class=\"title\" x=\"%d\" "
               "y=\"14\">",
               curves[0].n ? curves[0].y[0] : 0.0, curves[0].n ? curves[0].y[curves[0].n - 1] : 0.0,
               ry.low, ry.high, LINE_LEFT);
    html_text(out, title);
    buf_puts(out, "</text>\n");
    write_grid(out, &rx, &ry);
    for (size_t k = 0; k < n; k++)
        write_curve(out, &curves[k], &rx, &ry, k ? " second" : "");
    if (n > 1)
        write_legend(out, curves);
    buf_puts(out, "</svg>\n");
}

/* ---- bars ---- */
void chart_bars(struct buf *out, const struct chart_bar *bars, size_t n)
{
    enum { ROW = 18, NAME = 64, WIDTH = 460 };
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, bars[i].value);
    buf_printf(out, "<svg class=\"bars\" viewBox=\"0 0 %d %zu\" role=\"img\">\n", WIDTH,
               n * ROW + 4);
    for (size_t i = 0; i < n; i++) {
        double y = (double)(i * ROW),
               width = most > 0 ? bars[i].value / most * (WIDTH - NAME - 70) : 0;
        buf_printf(out, "<text class=\"tick\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", NAME - 8,
                   y + 13);
        html_text(out, bars[i].name);
        buf_printf(out,
                   "</text><rect class=\"bar\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"12\" "
                   "rx=\"2\"/><text class=\"tick\" x=\"%.1f\" y=\"%.0f\">",
                   NAME, y + 3, width, NAME + width + 6, y + 13);
        html_number(out, (uint64_t)bars[i].value);
        buf_puts(out, "</text>\n");
    }
    buf_puts(out, "</svg>\n");
}
