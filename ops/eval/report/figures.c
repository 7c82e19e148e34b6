#include "ops/eval/report/figures.h"

#include <assert.h>

Eqloom__Table *table_of(struct arena *a, const char *title, char **columns, size_t n_columns,
                        size_t rows)
{
    Eqloom__Table *t = arena_new(a, Eqloom__Table);
    eqloom__table__init(t);
    t->title = (char *)title;
    t->columns = columns;
    t->n_columns = n_columns;
    t->rows = arena_array(a, Eqloom__Row *, rows + 1);
    return t;
}

char **table_row(struct arena *a, Eqloom__Table *t)
{
    Eqloom__Row *r = t->rows[t->n_rows++] = arena_new(a, Eqloom__Row);
    eqloom__row__init(r);
    r->n_cells = t->n_columns;
    return r->cells = arena_array(a, char *, t->n_columns);
}

struct figures figures_new(struct arena *a, const char *title, char *columns[2])
{
    return (struct figures){.a = a, .table = table_of(a, title, columns, 2, FIGURES_MOST)};
}

char **figures_put(struct figures *f, const char *name, const char *format, double value)
{
    assert(f->n < FIGURES_MOST);
    Eqloom__Value *v = f->values[f->n++] = arena_new(f->a, Eqloom__Value);
    char **cells = table_row(f->a, f->table);
    eqloom__value__init(v);
    v->name = cells[0] = (char *)name;
    v->value = value;
    cells[1] = arena_printf(f->a, format, value);
    return &cells[1];
}
