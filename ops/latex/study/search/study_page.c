#include "ops/latex/study/search/study_page.h"

#include "base/text/words.h"
#include "ops/eval/report/html_parts.h"
#include "ops/eval/report/page_style.h"
#include "ops/latex/mathml/mathml_tree.h"

#include <string.h>

static bool is_presentation(const char *tag)
{
    static const char tags[] =
        "math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom "
        "mfenced menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts none "
        "mtable mtr mtd mlabeledtr";
    return word_in(tags, tag, strlen(tag));
}

/* Whether all attributes of `name="value" ...` are harmless; quotation marks in values are
 * escaped. */
static bool has_safe_attributes(const char *attributes)
{
    static const char names[] =
        "accent accentunder align bevelled close columnalign columnlines columnspacing columnspan "
        "depth dir displaystyle fence form frame height largeop linebreak linethickness lspace "
        "mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation open "
        "rowalign rowlines rowspacing rowspan rspace scriptlevel separator separators stretchy "
        "subscriptshift superscriptshift symmetric voffset width";
    while (*attributes) {
        size_t n = strcspn(attributes, "=");
        if (attributes[n] != '=' || attributes[n + 1] != '"' || !word_in(names, attributes, n))
            return false;
        attributes += n + 2;
        attributes += strcspn(attributes, "\"");
        attributes += *attributes == '"';
        attributes += *attributes == ' ';
    }
    return true;
}

void study_page_formula(struct buf *out, struct arena *a, const struct formula *f)
{
    struct mathml_tree t;
    bool harmless = *f->mathml && !mathml_tree_parse(&t, a, f->mathml, strlen(f->mathml));
    for (uint32_t i = 0; harmless && i < t.n; i++)
        harmless = is_presentation(t.nodes[i].tag) && has_safe_attributes(t.nodes[i].attributes);
    if (harmless) {
        buf_puts(out, mathml_tree_write(a, &t));
        return;
    }
    buf_puts(out, "<code>");
    html_text(out, *f->latex ? f->latex : f->mathml);
    buf_puts(out, "</code>");
}

static void write_query(struct buf *out, struct arena *a, const struct study_query *q)
{
    buf_puts(out, "<article><h3>");
    study_page_formula(out, a, &q->formula);
    buf_puts(out, "</h3>\n<p class=\"note\">Relevant: ");
    html_text(out, q->keywords);
    buf_printf(out, ". P@10 %.2f, P@100 %.2f, P@1000 %.2f; %.1f%% of all equations.</p>\n<table>",
               q->precision.at[0], q->precision.at[1], q->precision.at[2], 100 * q->chance);
    for (size_t i = 0; i < q->n_shown; i++) {
        const struct study_result *r = &q->shown[i];
        buf_printf(out, "<tr><td>%.3f</td><td>%s</td><td class=\"found\">", r->similarity,
                   r->relevant ? "&#10003;" : "");
        study_page_formula(out, a, &r->formula);
        buf_puts(out, "</td><td class=\"found note\">");
        html_text(out, r->paper);
        buf_puts(out, *r->section ? ": " : "");
        html_text(out, r->section);
        buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></article>\n");
}

void study_page_begin(struct buf *out, const char *heading, const char *of, const char *style,
                      bool has_pictures)
{
    buf_printf(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<meta "
               "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
               "'unsafe-inline'%s\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
               "initial-scale=1\"/>\n<title>%s</title>\n<style>",
               has_pictures ? "; img-src data:" : "", heading);
    buf_puts(out, page_style);
    buf_printf(out, "%s</style></head>\n<body><main>\n<header><h1>%s</h1><p>", style, heading);
    html_text(out, of);
    buf_puts(out, "</p></header>\n");
}

void study_page_write(struct buf *out, struct arena *a, const Eqloom__Table *figures,
                      const struct study_query *queries, size_t n)
{
    study_page_begin(out, "Search by equations", figures->title,
                     ".found{text-align:left;white-space:normal}article{margin:18px 0}", false);
    buf_puts(out, "<section>");
    html_table(out, figures, false);
    buf_puts(out, "<p class=\"note\">A result is relevant if a keyword of its query stands in its "
                  "section, one of more than ten characters also with one character changed."
                  "</p></section>\n<section><h2>Queries</h2>\n");
    for (size_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(a);
        write_query(out, a, &queries[i]);
        arena_release(a, mark);
    }
    buf_puts(out, "</section></main></body></html>\n");
}
