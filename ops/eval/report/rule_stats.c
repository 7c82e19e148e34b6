/* Counts by rule; see rule_stats.h. */
#include "ops/eval/report/rule_stats.h"

#include "base/buf.h"
#include "ops/eval/report/figures.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5 };

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

Eqloom__Table *rule_stats_table(struct arena *a, struct rule_stats *s)
{
    static char *columns[COLUMNS] = {"rule", "e-graphs changed", "in per cent", "matches",
                                     "matches that changed one"};
    Eqloom__Table *out = table_of(a, "Rules", columns, COLUMNS, s->n);
    out->note = arena_printf(a, "of %llu e-graphs; rules that never matched are left out",
                             (unsigned long long)s->egraphs);
    if (s->n)
        qsort(s->rows, s->n, sizeof *s->rows, compare_rows);
    for (size_t i = 0; i < s->n; i++) {
        const struct rule_row *r = &s->rows[i];
        char **cells = table_row(a, out);
        cells[0] = (char *)r->name;
        cells[1] = arena_printf(a, "%llu", (unsigned long long)r->egraphs);
        cells[2] = arena_printf(a, "%.1f", 100 * (double)r->egraphs / (double)s->egraphs);
        cells[3] = arena_printf(a, "%llu", (unsigned long long)r->matched);
        cells[4] = arena_printf(a, "%llu", (unsigned long long)r->applied);
    }
    return out;
}
