/* Counts by rule; see rule_stats.h. */
#include "ops/eval/report/rule_stats.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5, SHOWN = 25 };

void rule_stats_add(struct rule_stats *s, struct arena *a, const Eqloom__EGraph *g)
{
    s->egraphs++;
    for (size_t i = 0; i < g->n_rules; i++) {
        const Eqloom__RuleStats *r = g->rules[i];
        bool added;
        uint64_t *place = name_map_put(&s->index, r->rule, s->n, &added);
        if (added) {
            s->rows = vec_grow(s->rows, &s->cap, s->n + 1, sizeof *s->rows);
            s->rows[s->n++] = (struct rule_row){.name = arena_strdup(a, r->rule)};
        }
        struct rule_row *row = &s->rows[*place];
        row->egraphs += r->applied > 0;
        row->matched += r->matched;
        row->applied += r->applied;
    }
}

void rule_stats_free(struct rule_stats *s)
{
    name_map_free(&s->index);
    free(s->rows);
}

static int compare_rows(const void *x, const void *y)
{
    const struct rule_row *a = x, *b = y;
    if (a->egraphs != b->egraphs)
        return a->egraphs > b->egraphs ? -1 : 1;
    if (a->applied != b->applied)
        return a->applied > b->applied ? -1 : 1;
    return strcmp(a->name, b->name);
}

void rule_stats_table(Eqloom__Table *out, struct arena *a, struct rule_stats *s)
{
    static char *columns[COLUMNS] = {"rule", "e-graphs changed", "in per cent", "matches",
                                     "matches that changed one"};
    eqloom__table__init(out);
    out->title = "Rules";
    out->columns = columns;
    out->n_columns = COLUMNS;
    out->note = arena_printf(a, "of %llu e-graphs; rules that never matched are left out",
                             (unsigned long long)s->egraphs);
    out->rows = arena_array(a, Eqloom__Row *, s->n);
    if (s->n)
        qsort(s->rows, s->n, sizeof *s->rows, compare_rows);
    for (size_t i = 0; i < s->n; i++) {
        const struct rule_row *r = &s->rows[i];
        Eqloom__Row *row = out->rows[out->n_rows++] = arena_new(a, Eqloom__Row);
        eqloom__row__init(row);
        row->cells = arena_array(a, char *, COLUMNS);
        row->n_cells = COLUMNS;
        row->cells[0] = (char *)r->name;
        row->cells[1] = arena_printf(a, "%llu", (unsigned long long)r->egraphs);
        row->cells[2] = arena_printf(a, "%.1f", 100 * (double)r->egraphs / (double)s->egraphs);
        row->cells[3] = arena_printf(a, "%llu", (unsigned long long)r->matched);
        row->cells[4] = arena_printf(a, "%llu", (unsigned long long)r->applied);
    }
}

/* Names of rules hold no markup: letters, digits and "_-./~". */
void rule_stats_write(struct buf *out, const Eqloom__Table *table)
{
    buf_puts(out, "<section><h2>What the rules did</h2>\n<table><thead><tr>");
    for (size_t c = 0; c < table->n_columns; c++)
        buf_printf(out, "<th>%s</th>", table->columns[c]);
    buf_puts(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < table->n_rows && i < SHOWN; i++) {
        buf_puts(out, "<tr>");
        for (size_t c = 0; c < table->n_columns; c++)
            buf_printf(out, c ? "<td>%s</td>" : "<th>%s</th>", table->rows[i]->cells[c]);
        buf_puts(out, "</tr>\n");
    }
    buf_printf(out, "</tbody></table><p class=\"note\">%s%s</p></section>\n", table->note,
               table->n_rows > SHOWN ? "; the first rows" : "");
}
