#include "ops/eval/report/html_parts.h"

#include "base/span.h"

void html_table(struct buf *out, const Eqloom__Table *t, bool cases)
{
    buf_printf(out, "<div class=\"scroll\"><table class=\"sorts%s\"><thead><tr>",
               cases ? " cases" : "");
    for (size_t c = 0; c < t->n_columns; c++) {
        buf_puts(out, "<th>");
        html_text(out, t->columns[c]);
        buf_puts(out, "</th>");
    }
    buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n_rows; i++) {
        buf_puts(out, "<tr>");
        for (size_t c = 0; c < t->rows[i]->n_cells; c++) {
            bool name = !cases && !c;
            buf_puts(out, name ? "<th>" : "<td>");
            html_count(out, t->rows[i]->cells[c]);
            buf_puts(out, name ? "</th>" : "</td>");
        }
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

static void put_base64(struct buf *out, struct span s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.len; i += 3) {
        size_t n = s.len - i;
        uint32_t bits = (uint32_t)s.data[i] << 16 | (n > 1 ? s.data[i + 1] : 0u) << 8 |
                        (n > 2 ? s.data[i + 2] : 0u);
        buf_putc(out, digits[bits >> 18]);
        buf_putc(out, digits[bits >> 12 & 63]);
        buf_putc(out, n > 1 ? digits[bits >> 6 & 63] : '=');
        buf_putc(out, n > 2 ? digits[bits & 63] : '=');
    }
}

void html_pictures(struct buf *out, const Eqloom__Pictures *p)
{
    buf_puts(out, "<article><table>\n");
    for (size_t i = 0; i < p->n_pictures; i++) {
        const Eqloom__Picture *x = p->pictures[i];
        if (i)
            buf_printf(out, "<tr><td>%.3f</td><td>", x->similarity);
        else
            buf_puts(out, "<tr><th>query</th><td>");
        buf_puts(out, "<img alt=\"");
        html_text(out, x->latex);
        buf_puts(out, "\" src=\"data:image/png;base64,");
        put_base64(out, span_of(x->png.data, x->png.len));
        buf_puts(out, "\"/></td><td class=\"note\">");
        html_text(out, x->from);
        buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></article>\n");
}
