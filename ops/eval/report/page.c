/* HTML of the report; see page.h. Sections whose input is absent are left out. */
#include "ops/eval/report/page.h"

#include "base/text/asset.h"
#include "base/text/chart.h"
#include "ops/eval/report/html_parts.h"
#include "ops/eval/report/page_style.h"
#include "ops/eval/report/plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes an expression in prefix tokens as MathML, and other text unchanged. */
static void write_math(struct buf *out, struct arena *a, const struct language *lang,
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

/* ---- tables of evaluations ---- */

static bool is_column(const struct results *r, const struct result_figure *f)
{
    return results_have(r, f) && !results_share(r, f);
}

static void write_cell(struct buf *out, struct arena *a, const struct results *r,
                       const struct result_figure *f, const double *v)
{
    if (!v) {
        buf_puts(out, "<td>&#8211;</td>");
        return;
    }
    buf_printf(out, "<td class=\"%s\">",
               f->role == RESULT_SETTING ? "count"
               : results_best(r, f, *v)  ? "best"
                                         : "");
    if (f->form == RESULT_PERCENT)
        buf_printf(out, "<span class=\"meter\" style=\"--part:%.1f%%\"></span>",
                   100 * fmax(0, fmin(1, *v)));
    html_count(out, result_text(a, f, *v));
    buf_puts(out, "</td>");
}

static void write_table(struct buf *out, struct arena *a, const struct results *r)
{
    buf_puts(out, "<div class=\"scroll\"><table class=\"sorts\"><thead><tr><th></th>");
    for (const struct result_figure *f = r->kind->figures; f->name; f++)
        if (is_column(r, f))
            buf_printf(out, "<th>%s</th>", f->title);
    buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n; i++) {
        buf_puts(out, "<tr><th>");
        html_text(out, r->rows[i]->title);
        buf_puts(out, "</th>");
        for (const struct result_figure *f = r->kind->figures; f->name; f++)
            if (is_column(r, f))
                write_cell(out, a, r, f, report_value(r->rows[i], f->name));
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

/* "In per cent of the questions; the best of each column is bold. 14.3% by guessing." */
static void write_note(struct buf *out, struct arena *a, const struct results *r)
{
    const char *note = r->kind->note;
    bool scores = false;
    for (const struct result_figure *f = r->kind->figures; f->name; f++)
        scores = scores || ((f->role == RESULT_SCORE || f->role == RESULT_LOSS) && is_column(r, f));
    buf_printf(out, "<p class=\"note\">%c%s%s.", note[0] - 'a' + 'A', note + 1,
               scores && r->n > 1 ? "; the best of each column is bold" : "");
    for (const struct result_figure *f = r->kind->figures; f->name; f++)
        if (results_share(r, f)) {
            buf_putc(out, ' ');
            html_count(out, result_text(a, f, *report_value(r->rows[0], f->name)));
            buf_printf(out, "%s %s.", f->form == RESULT_PERCENT ? "%" : "", f->title);
        }
    buf_puts(out, "</p>\n");
}

static void write_explanations(struct buf *out, const struct results *r)
{
    buf_puts(out, "<dl>");
    for (const struct result_figure *f = r->kind->figures; f->name; f++)
        if (f->explanation && is_column(r, f))
            buf_printf(out, "<dt>%s</dt><dd>%s</dd>\n", f->title, f->explanation);
    buf_puts(out, "</dl>");
}

/* Writes the examples of one report, or, if `report` is NULL, of several. */
static void write_cases(struct buf *out, const Eqloom__Table *t, const char *report)
{
    buf_puts(out, "<details><summary>");
    html_text(out, t->title);
    if (report) {
        buf_puts(out, ": ");
        html_text(out, report);
    }
    buf_puts(out, "</summary>");
    html_table(out, t, true);
    if (t->note[0])
        buf_printf(out, "<p class=\"note\">%s</p>", t->note);
    buf_puts(out, "</details>\n");
}

void page_write_results(struct buf *out, struct arena *a, const struct results *r, const char *part)
{
    size_t n;
    Eqloom__Table **tables = results_together(&n, a, r);
    buf_puts(out, "<section><h2>");
    if (r->kind->title) {
        html_text(out, r->kind->title);
    } else {
        buf_puts(out, "Results on ");
        html_text(out, part);
    }
    buf_puts(out, "</h2>\n");
    write_table(out, a, r);
    write_note(out, a, r);
    write_explanations(out, r);
    for (size_t i = 0; i < n; i++)
        write_cases(out, tables[i], NULL);
    /* The first table of an evaluation contains its figures, the second one its examples. */
    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i]->n_tables > 1 && r->rows[i]->tables[1]->n_rows)
            write_cases(out, r->rows[i]->tables[1], r->rows[i]->title);
    buf_puts(out, "</section>\n");
}

static bool is_of_earlier(const struct page_input *in, size_t upto, const Eqloom__Report *report)
{
    for (size_t i = 0; i < upto; i++)
        for (size_t k = 0; k < in->results[i].n; k++)
            if (in->results[i].rows[k] == report)
                return true;
    return false;
}

/* Writes the pictures of each report only once: it may be a row of several tables. */
static void write_pictures(struct buf *out, const struct page_input *in)
{
    for (size_t i = 0; i < in->n_results; i++)
        for (size_t k = 0; k < in->results[i].n; k++) {
            const Eqloom__Report *report = in->results[i].rows[k];
            if (!report->n_pictures || is_of_earlier(in, i, report))
                continue;
            buf_puts(out, "<details><summary>Queries and their nearest pictures: ");
            html_text(out, report->title);
            buf_puts(out, "</summary>\n");
            for (size_t q = 0; q < report->n_pictures; q++)
                html_pictures(out, report->pictures[q]);
            buf_puts(out, "</details>\n");
        }
}

/* ---- the picture of vectors ---- */

/* One point per expression. Formulas are stored once, in a template that browsers do not lay out,
 * in the order of the points; a point's data-near is a list of its nearest points as
 * "NUMBER:COSINE". report.js shows both. */
enum { NEAR = 5 };

struct near_search {
    const struct vectors *v;
    const uint32_t *order;
    struct neighbour (*found)[NEAR];
    size_t *n;
};

/* Finds the nearest points of point `item`, as indices in the order. */
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

/* Orders points by cluster; within a cluster the order is kept. */
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

static void write_picture(struct buf *out, struct arena *a, const struct page_input *in,
                          struct pool *pool)
{
    const struct vectors *v = in->vectors;
    const struct language *lang =
        in->corpus && in->corpus->lang ? in->corpus->lang : &lang_calculus;
    struct tsne_options options = {.perplexity = 30, .iterations = 500};
    struct chart_point *points = arena_array(a, struct chart_point, v->n);
    const char **labels = arena_array(a, const char *, v->n_clusters + 1);
    uint32_t *order = by_cluster(a, v);
    struct near_search near = {v, order, arena_alloc(a, v->n * sizeof *near.found),
                               arena_array(a, size_t, v->n)};
    struct plane plane = tsne_plane(a, v, &options, pool);
    pool_for(pool, v->n, find_near, &near);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t from = order[i], c = v->cluster[from];
        char *text = expr_infix_of(a, lang, v->text[from]);
        /* A cluster's first expression is its seed. */
        if (!labels[c])
            labels[c] = text;
        points[i] = (struct chart_point){
            plane.x[from], plane.y[from], c,
            text == labels[c] ? text : arena_printf(a, "%s\n= %s", text, labels[c]),
            near_text(a, &near, i)};
    }
    buf_puts(out, "<section><h2>Embedded expressions</h2>\n<figure class=\"picture\">");
    chart_scatter(out,
                  arena_printf(a, "Picture of %u expressions of %u clusters", v->n, v->n_clusters),
                  points, v->n, labels);
    buf_puts(out, "<div class=\"peek\" role=\"status\"></div>\n<template>");
    for (uint32_t i = 0; i < v->n; i++)
        write_math(out, a, lang, v->text[order[i]]);
    buf_puts(out, "</template>\n<figcaption>");
    html_number(out, v->n);
    buf_puts(out, " expressions of ");
    html_number(out, v->n_clusters);
    buf_printf(out,
               " clusters by t-SNE (perplexity %.0f); each cluster has a colour and a shape, and "
               "is labelled with its seed where there is room. Point at an expression, or move "
               "with the arrow keys, to see its formula, its cluster and its nearest expressions "
               "by cosine.</figcaption></figure></section>\n",
               options.perplexity);
}

/* ---- training and corpus ---- */

static void write_curve(struct buf *out, struct arena *a, const Eqloom__Checkpoint *c,
                        const char *name, const char *title)
{
    double *x = arena_array(a, double, c->n_metrics + 1),
           *y = arena_array(a, double, c->n_metrics + 1);
    size_t n = 0;
    for (size_t i = 0; i < c->n_metrics; i++)
        if (strcmp(c->metrics[i]->name, name) == 0) {
            x[n] = (double)c->metrics[i]->step;
            y[n++] = c->metrics[i]->value;
        }
    if (n > 1)
        chart_lines(out, title, &(struct chart_curve){.x = x, .y = y, .n = n}, 1);
}

static void write_training(struct buf *out, struct arena *a, const Eqloom__Checkpoint *c)
{
    static const char *const curves[][2] = {{"loss", "loss"},
                                            {"accuracy", "accuracy"},
                                            {"valid_loss", "validation loss"},
                                            {"valid_accuracy", "validation accuracy"},
                                            {"learning_rate", "learning rate"},
                                            {"gradient_norm", "gradient norm"}};
    buf_puts(out, "<section><h2>Training</h2>\n<p>");
    html_number(out, c->step);
    buf_puts(out, " steps");
    if (c->numerics[0]) {
        buf_puts(out, ", numerics <code>");
        html_text(out, c->numerics);
        buf_puts(out, "</code>");
    }
    buf_puts(out, ".</p>\n<div class=\"charts\">");
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        write_curve(out, a, c, curves[i][0], curves[i][1]);
    buf_puts(out, "</div>\n<details><summary>Model</summary><pre>");
    html_text(out, c->architecture);
    buf_puts(out, "</pre></details></section>\n");
}

static int compare_bars(const void *x, const void *y)
{
    const struct chart_bar *a = x, *b = y;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void write_corpus(struct buf *out, struct arena *a, const struct corpus_stats *s)
{
    struct chart_bar bars[STATS_OPS], lengths[STATS_LENGTHS];
    const Eqloom__Table *table = corpus_stats_figures(a, s).table;
    uint32_t n = 0, longest = 1;
    for (uint32_t op = X_ADD; op < STATS_OPS; op++)
        if (s->by_op[op] && corpus_op_name(s, op))
            bars[n++] = (struct chart_bar){corpus_op_name(s, op), (double)s->by_op[op]};
    qsort(bars, n, sizeof *bars, compare_bars);
    for (uint32_t i = 1; i < STATS_LENGTHS; i++) {
        lengths[i] = (struct chart_bar){arena_printf(a, "%u", i), (double)s->by_length[i]};
        if (s->by_length[i])
            longest = i;
    }
    buf_puts(out, "<section><h2>Corpus</h2>\n<div class=\"cards\">");
    for (size_t i = 0; i < table->n_rows; i++) {
        buf_puts(out, "<div class=\"card\"><b>");
        html_count(out, table->rows[i]->cells[1]);
        buf_printf(out, "</b><span>%s</span></div>", table->rows[i]->cells[0]);
    }
    buf_printf(out,
               "</div>\n<p class=\"note\">Terms that differ only in numbers and symbols have the "
               "same shape; %s.</p>\n",
               table->note);
    static const char *const warnings[] = {
        [EQLOOM__BASIS__CLAIM] = "The rules contain claims about operators without a meaning: these "
                                 "expressions are equal if the claims hold.",
        [EQLOOM__BASIS__SAMPLE] = "A rule that is not proved was allowed: these expressions are "
                                  "equal if it holds.",
        [EQLOOM__BASIS__FALSEHOOD] = "A refuted rule was allowed: some of these expressions may not "
                                     "be equal.",
    };
    if (s->basis != EQLOOM__BASIS__PROOF)
        buf_printf(out, "<p class=\"warning\">%s</p>\n", warnings[s->basis]);
    buf_puts(out, "<div class=\"charts\"><figure>");
    chart_bars(out, lengths + 1, longest);
    buf_puts(out, "<figcaption>Expressions by length in tokens</figcaption></figure>\n<figure>");
    chart_bars(out, bars, n);
    buf_puts(out, "<figcaption>Expressions that contain each operator</figcaption></figure></div>"
                  "</section>\n");
}

static void write_clusters(struct buf *out, struct arena *a, const struct corpus_stats *s)
{
    buf_puts(out, "<section><h2>Some clusters</h2>\n<div class=\"examples\">");
    for (uint32_t i = 0; i < s->n_examples; i++) {
        const struct corpus_example *example = &s->examples[i];
        buf_puts(out, "<article><h3>");
        write_math(out, a, s->lang, example->seed);
        buf_puts(out, "</h3>\n<ul>");
        for (uint32_t k = 0; k < example->n_shown; k++) {
            buf_puts(out, "<li>");
            write_math(out, a, s->lang, example->members[k]);
            buf_puts(out, "</li>\n");
        }
        buf_puts(out, "</ul><p class=\"note\">");
        html_number(out, example->n_members);
        buf_puts(out, " members");
        if (example->terms[0]) {
            bool bound = example->terms[0] == '>';
            buf_puts(out, bound ? ", drawn from at least " : ", drawn from ");
            html_count(out, example->terms + 2 * bound);
            buf_puts(out, " terms");
        }
        buf_puts(out, "</p></article>\n");
    }
    buf_puts(out, "</div></section>\n");
}

/* ---- the page ---- */

void page_write(struct buf *out, struct arena *a, const struct page_input *in, struct pool *pool)
{
    buf_puts(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"/>\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"/>\n<title>");
    html_text(out, in->title);
    buf_puts(out, "</title>\n<style>");
    buf_puts(out, page_style);
    buf_puts(out, "</style></head>\n<body><main>\n<header><h1>");
    html_text(out, in->title);
    buf_puts(out, "</h1><p>How well vectors separate equivalent expressions from others.</p><p "
                  "id=\"job\"></p></header>\n");
    for (size_t i = 0; i < in->n_results; i++)
        page_write_results(out, a, &in->results[i], in->part);
    write_pictures(out, in);
    if (in->vectors)
        write_picture(out, a, in, pool);
    if (in->checkpoint)
        write_training(out, a, in->checkpoint);
    if (in->corpus && in->corpus->clusters) {
        write_corpus(out, a, in->corpus);
        write_clusters(out, a, in->corpus);
    }
    if (in->rules) {
        buf_puts(out, "<section><h2>Effects of the rules</h2>\n");
        html_table(out, in->rules, false);
        buf_printf(out, "<p class=\"note\">%s</p></section>\n", in->rules->note);
    }
    /* A report depends on its inputs, not on the run that computed them, so it cannot list them
     * itself. */
    buf_puts(out, "<footer>Made by eqloom. What each run computed and reused, and why: "
                  "<code>eqloom log JOB/RUN</code>, "
                  "<code>eqloom why JOB/NODE</code>.</footer></main>\n<script>");
    for (const struct asset *script = report_assets; script->path; script++)
        buf_puts(out, script->data);
    buf_puts(out, "</script></body></html>\n");
}
