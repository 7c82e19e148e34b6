/* See html_table.h. */
#include "ops/eval/report/html_table.h"

void html_table(struct buf *out, const Eqloom__Table *t, const char *class, bool named)
{
    buf_printf(out, "<div class=\"scroll\"><table class=\"sorts%s\"><thead><tr>", class);
    for (size_t c = 0; c < t->n_columns; c++) {
        buf_puts(out, "<th>");
        html_text(out, t->columns[c]);
        buf_puts(out, "</th>");
    }
    buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n_rows; i++) {
        buf_puts(out, "<tr>");
        for (size_t c = 0; c < t->rows[i]->n_cells; c++) {
            bool name = named && !c;
            buf_puts(out, name ? "<th>" : "<td>");
            html_count(out, t->rows[i]->cells[c]);
            buf_puts(out, name ? "</th>" : "</td>");
        }
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}
