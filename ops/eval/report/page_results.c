/* HTML of evaluations; see page_results.h. */
#include "ops/eval/report/page_results.h"

#include "ops/eval/report/html_parts.h"

#include <math.h>

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

/* An evaluation's first table has its figures, a second one examples. */
static void write_examples(struct buf *out, const Eqloom__Report *report)
{
    if (report->n_tables < 2 || !report->tables[1]->n_rows)
        return;
    buf_puts(out, "<details><summary>");
    html_text(out, report->tables[1]->title);
    buf_puts(out, ": ");
    html_text(out, report->title);
    buf_puts(out, "</summary>");
    html_table(out, report->tables[1], " cases", false);
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
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, "<details><summary>");
        html_text(out, tables[i]->title);
        buf_puts(out, "</summary>");
        html_table(out, tables[i], " cases", false);
        buf_printf(out, "<p class=\"note\">%s</p></details>\n", tables[i]->note);
    }
    for (size_t i = 0; i < r->n; i++)
        write_examples(out, r->rows[i]);
    buf_puts(out, "</section>\n");
}
