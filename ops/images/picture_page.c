#include "ops/images/picture_page.h"

#include "base/text/html.h"
#include "ops/eval/report/page_style.h"
#include "ops/images/dendrogram.h"

enum { DENDROGRAM_MAX = 400, ROW = 14, WIDTH = 640, NONE = UINT32_MAX };

void picture_page_begin(struct buf *out, const char *title)
{
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<meta "
                  "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'unsafe-inline'; img-src data:\"/>\n<meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\"/>\n<title>Pictures of "
                  "equations</title>\n<style>");
    buf_puts(out, page_style);
    buf_puts(out, "img{background:#fff;display:block}article{margin:1rem 0;overflow-x:auto}"
                  "td{text-align:left;white-space:normal}.note{overflow-wrap:anywhere}"
                  "</style></head>\n<body><main>\n<header><h1>Pictures of equations</h1><p>");
    html_text(out, title);
    buf_puts(out, "</p></header>\n");
}

void picture_page_end(struct buf *out)
{
    buf_puts(out, "</main></body></html>\n");
}

/* ---- the dendrogram ---- */

struct side {
    double x, y;
    uint32_t cluster; /* of all leaves below; NONE: several */
};

/* Leaves from top to bottom, so that no lines cross. */
static void place_leaves(struct side *sides, const struct merge *merges, uint32_t n,
                         struct arena *a)
{
    uint32_t *stack = arena_array(a, uint32_t, 2 * (size_t)n + 1), depth = 0, row = 0;
    stack[depth++] = n > 1 ? 2 * n - 2 : 0;
    while (depth) {
        uint32_t top = stack[--depth];
        if (top < n) {
            sides[top].y = ROW * (row++ + 0.5);
        } else {
            stack[depth++] = merges[top - n].right;
            stack[depth++] = merges[top - n].left;
        }
    }
}

static void put_line(struct buf *out, uint32_t cluster, double x0, double y0, double x1, double y1)
{
    buf_puts(out, "<path fill=\"none\" stroke=\"");
    if (cluster == NONE)
        buf_puts(out, "#999");
    else
        buf_printf(out, "hsl(%u,%u%%,45%%)", cluster * 137 % 360, 60 + cluster % 3 * 15);
    buf_printf(out, "\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x0, y0, y1, x1);
}

void picture_page_dendrogram(struct buf *out, struct arena *a, const struct vectors *v,
                             const Eqloom__Place *const *place)
{
    uint32_t n = v->n;
    if (n < 2 || n > DENDROGRAM_MAX) {
        buf_printf(out, "<p class=\"note\">A dendrogram is drawn of 2 to %d pictures.</p>\n",
                   DENDROGRAM_MAX);
        return;
    }
    const struct merge *merges = dendrogram_find(a, v);
    struct side *sides = arena_array(a, struct side, 2 * (size_t)n);
    double widest = merges[n - 2].distance > 0 ? merges[n - 2].distance : 1;
    place_leaves(sides, merges, n, a);
    buf_printf(out,
               "<section><h2>Complete linkage</h2><p class=\"note\">By cosine; grey where labels "
               "mix.</p>\n<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"Dendrogram\" "
               "font-size=\"11\">\n",
               WIDTH + 200, n * ROW);
    for (uint32_t i = 0; i < n; i++) {
        sides[i].x = WIDTH;
        sides[i].cluster = v->cluster[i];
        buf_printf(out, "<text x=\"%d\" y=\"%.1f\" fill=\"currentColor\">", WIDTH + 6,
                   sides[i].y + 4);
        html_text(out, place[i]->label);
        buf_puts(out, "</text>\n");
    }
    for (uint32_t k = 0; k + 1 < n; k++) {
        const struct side *l = &sides[merges[k].left], *r = &sides[merges[k].right];
        struct side *both = &sides[n + k];
        both->x = WIDTH * (1 - merges[k].distance / widest * 0.98);
        both->y = (l->y + r->y) / 2;
        both->cluster = l->cluster == r->cluster ? l->cluster : NONE;
        put_line(out, l->cluster, both->x, both->y, l->x, l->y);
        put_line(out, r->cluster, both->x, both->y, r->x, r->y);
    }
    buf_puts(out, "</svg></section>\n");
}
