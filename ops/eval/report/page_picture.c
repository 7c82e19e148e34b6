/* The picture; see page_picture.h. Formulas stand once, in a template that browsers do not lay out,
 * in the order of the points; a point's data-near is a list of "NUMBER:COSINE". report.js shows
 * them. */
#include "ops/eval/report/page_picture.h"

#include "base/text/chart.h"
#include "base/text/html.h"
#include "ops/eval/report/tsne.h"
#include "ops/expr/expr.h"

enum { NEAR = 5 };

struct near_search {
    const struct vectors *v;
    const uint32_t *order;
    struct neighbour (*found)[NEAR];
    size_t *n;
};

/* Those of point `item`, by their places in the order. */
static void find_near(void *arg, size_t item, unsigned worker)
{
    struct near_search *s = arg;
    const float *x = vectors_at(s->v, s->order[item]);
    for (uint32_t i = 0; i < s->v->n; i++)
        if (i != item) {
            float cosine = vector_dot(x, vectors_at(s->v, s->order[i]), s->v->stride);
            s->n[item] =
                neighbours_insert(s->found[item], s->n[item], NEAR, (struct neighbour){cosine, i});
        }
}

/* Points by cluster, and within it as they come. */
static uint32_t *by_cluster(struct arena *a, const struct vectors *v)
{
    uint32_t *order = arena_array(a, uint32_t, v->n + 1);
    uint32_t *next = arena_array(a, uint32_t, v->n_clusters + 1);
    for (uint32_t i = 0; i < v->n; i++)
        next[v->cluster[i] + 1]++;
    for (uint32_t c = 0; c < v->n_clusters; c++)
        next[c + 1] += next[c];
    for (uint32_t i = 0; i < v->n; i++)
        order[next[v->cluster[i]]++] = i;
    return order;
}

static const char *near_text(struct arena *a, const struct near_search *s, uint32_t point)
{
    const char *text = "";
    for (size_t k = 0; k < s->n[point]; k++)
        text = arena_printf(a, "%s%s%u:%.3f", text, k ? " " : "", s->found[point][k].row,
                            (double)s->found[point][k].similarity);
    return text;
}

void page_write_math(struct buf *out, struct arena *a, const struct language *lang,
                     const char *prefix)
{
    struct expr x;
    if (expr_from_prefix(&x, a, lang, prefix, NULL) == OK) {
        expr_write_mathml(out, &x);
        return;
    }
    buf_puts(out, "<code>");
    html_text(out, prefix);
    buf_puts(out, "</code>");
}

void page_write_picture(struct buf *out, struct arena *a, const struct page_input *in,
                        struct pool *pool)
{
    const struct vectors *v = in->vectors;
    const struct language *lang =
        in->corpus && in->corpus->lang ? in->corpus->lang : &lang_calculus;
    struct tsne_options options = {in->perplexity, in->iterations, in->seed};
    struct chart_point *points = arena_array(a, struct chart_point, v->n);
    const char **labels = arena_array(a, const char *, v->n_clusters + 1);
    uint32_t *order = by_cluster(a, v);
    struct near_search near = {v, order, arena_alloc(a, v->n * sizeof *near.found),
                               arena_array(a, size_t, v->n)};
    float *x, *y;
    tsne(&x, &y, a, v, &options, pool);
    pool_for(pool, v->n, find_near, &near);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t from = order[i], c = v->cluster[from];
        char *text = expr_infix_of(a, lang, v->text[from]);
        /* A cluster's first expression is its seed. */
        if (!labels[c])
            labels[c] = text;
        points[i] = (struct chart_point){
            x[from], y[from], c,
            text == labels[c] ? text : arena_printf(a, "%s\n= %s", text, labels[c]),
            near_text(a, &near, i)};
    }
    buf_puts(out, "<section><h2>Embedded expressions</h2>\n<figure class=\"picture\">");
    chart_scatter(out,
                  arena_printf(a, "Picture of %u expressions of %u clusters", v->n, v->n_clusters),
                  points, v->n, labels);
    buf_puts(out, "<div class=\"peek\" role=\"status\"></div>\n<template>");
    for (uint32_t i = 0; i < v->n; i++)
        page_write_math(out, a, lang, v->text[order[i]]);
    buf_puts(out, "</template>\n<figcaption>");
    html_number(out, v->n);
    buf_puts(out, " expressions of ");
    html_number(out, v->n_clusters);
    buf_printf(out,
               " clusters by t-SNE (perplexity %.0f); each cluster has a colour and a shape, and "
               "its seed as label where there is room. Point at an expression, or walk with the "
               "arrow keys, to see its formula, its cluster and what is nearest by cosine."
               "</figcaption></figure></section>\n",
               in->perplexity);
}
