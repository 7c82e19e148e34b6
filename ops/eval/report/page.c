/* HTML of the report; see page.h. Sections whose input is absent are left out. */
#include "ops/eval/report/page.h"

#include "base/text/asset.h"
#include "base/text/chart.h"
#include "ops/eval/report/html_parts.h"
#include "ops/eval/report/page_picture.h"
#include "ops/eval/report/page_results.h"
#include "ops/eval/report/page_style.h"

#include <stdlib.h>
#include <string.h>

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
               "</div>\n<p class=\"note\">A shape is a term without regard to its numbers and "
               "symbols; %s.</p>\n",
               table->note);
    if (s->unsound)
        buf_puts(out,
                 "<p class=\"warning\">A refuted rule was allowed: some of these expressions may "
                 "not be equal.</p>\n");
    buf_puts(out, "<div class=\"charts\"><figure>");
    chart_bars(out, lengths + 1, longest);
    buf_puts(out, "<figcaption>Expressions by length in tokens</figcaption></figure>\n<figure>");
    chart_bars(out, bars, n);
    buf_puts(out, "<figcaption>Expressions that contain each operator</figcaption></figure></div>"
                  "</section>\n");
}

static void write_examples(struct buf *out, struct arena *a, const struct corpus_stats *s)
{
    buf_puts(out, "<section><h2>Some clusters</h2>\n<div class=\"examples\">");
    for (uint32_t i = 0; i < s->n_examples; i++) {
        const struct corpus_example *example = &s->examples[i];
        buf_puts(out, "<article><h3>");
        page_write_math(out, a, s->lang, example->seed);
        buf_puts(out, "</h3>\n<ul>");
        for (uint32_t k = 0; k < example->n_shown; k++) {
            buf_puts(out, "<li>");
            page_write_math(out, a, s->lang, example->members[k]);
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

static bool is_of_earlier(const struct page_input *in, size_t upto, const Eqloom__Report *report)
{
    for (size_t i = 0; i < upto; i++)
        for (size_t k = 0; k < in->results[i].n; k++)
            if (in->results[i].rows[k] == report)
                return true;
    return false;
}

/* Each report's once: it may be in several tables. */
static void write_pictures(struct buf *out, const struct page_input *in)
{
    for (size_t i = 0; i < in->n_results; i++)
        for (size_t k = 0; k < in->results[i].n; k++) {
            const Eqloom__Report *report = in->results[i].rows[k];
            if (!report->n_pictures || is_of_earlier(in, i, report))
                continue;
            buf_puts(out, "<details><summary>Queries and their nearest: ");
            html_text(out, report->title);
            buf_puts(out, "</summary>\n");
            for (size_t q = 0; q < report->n_pictures; q++)
                html_pictures(out, report->pictures[q]);
            buf_puts(out, "</details>\n");
        }
}

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
    buf_puts(out, "</h1><p>How well vectors of expressions separate equivalent from "
                  "other expressions.</p><p id=\"job\"></p></header>\n");
    for (size_t i = 0; i < in->n_results; i++)
        page_write_results(out, a, &in->results[i], in->part);
    write_pictures(out, in);
    if (in->vectors)
        page_write_picture(out, a, in, pool);
    if (in->checkpoint)
        write_training(out, a, in->checkpoint);
    if (in->corpus && in->corpus->clusters) {
        write_corpus(out, a, in->corpus);
        write_examples(out, a, in->corpus);
    }
    if (in->rules) {
        buf_puts(out, "<section><h2>What the rules did</h2>\n");
        html_table(out, in->rules, "", true);
        buf_printf(out, "<p class=\"note\">%s</p></section>\n", in->rules->note);
    }
    /* A report depends on what it reads, not on the run in which that was computed. */
    buf_puts(out, "<footer>Made by eqloom. What each run computed and reused, and why: "
                  "<code>eqloom log JOB/RUN</code>, "
                  "<code>eqloom why JOB/NODE</code>.</footer></main>\n<script>");
    for (const struct asset *script = report_assets; script->path; script++)
        buf_puts(out, script->data);
    buf_puts(out, "</script></body></html>\n");
}
