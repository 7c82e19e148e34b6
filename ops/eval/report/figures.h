/* Named figures, which also form a table; and tables. */
#pragma once

#include "base/arena.h"
#include "report.pb-c.h"

enum { FIGURES_MOST = 32 };

/* An empty table with room for `rows` rows; title and columns are borrowed. */
Eqloom__Table *table_of(struct arena *a, const char *title, char **columns, size_t n_columns,
                        size_t rows);
/* Appends a row and returns its cells, which the caller fills. */
char **table_row(struct arena *a, Eqloom__Table *t);

struct figures {
    struct arena *a;
    Eqloom__Table *table; /* two columns: name and value */
    Eqloom__Value *values[FIGURES_MOST];
    size_t n;
};

struct figures figures_new(struct arena *a, const char *title, char *columns[2]);
/* Adds a figure; the name is borrowed, and `format` takes one double. Returns the cell of the
 * value. */
char **figures_put(struct figures *f, const char *name, const char *format, double value);
static inline void figures_add(struct figures *f, const char *name, double value)
{
    figures_put(f, name, "%.6g", value);
}
