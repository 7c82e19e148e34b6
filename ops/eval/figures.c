/* See figures.h. */
#include "ops/eval/figures.h"

#include <assert.h>

Eqloom__Row *figures_row(struct arena *a, size_t cells)
{
    Eqloom__Row *r = arena_new(a, Eqloom__Row);
    eqloom__row__init(r);
    r->n_cells = cells;
    r->cells = arena_array(a, char *, cells);
    return r;
}

void figures_add(struct figures *f, const char *name, double value)
{
    assert(f->n < FIGURES_MOST);
    Eqloom__Value *v = f->values[f->n] = arena_new(f->a, Eqloom__Value);
    Eqloom__Row *r = f->rows[f->n++] = figures_row(f->a, 2);
    eqloom__value__init(v);
    v->name = (char *)name;
    v->value = value;
    r->cells[0] = v->name;
    r->cells[1] = arena_printf(f->a, "%.6g", value);
}

enum err_code figures_emit(struct op_ctx *ctx, struct figures *f, const char *title,
                           Eqloom__Table *more, struct err *e)
{
    const char *label = op_string(ctx, "label");
    char *columns[] = {"figure", "value"};
    Eqloom__Report report;
    Eqloom__Table table, *tables[2] = {&table, more};
    eqloom__report__init(&report);
    eqloom__table__init(&table);
    table.title = report.title = (char *)(label[0] ? label : title);
    table.columns = columns;
    table.n_columns = 2;
    table.rows = f->rows;
    table.n_rows = f->n;
    report.tables = tables;
    report.n_tables = more ? 2 : 1;
    report.values = f->values;
    report.n_values = f->n;
    return err_up(e, op_emit(NULL, ctx, "report", &report.base, e));
}
