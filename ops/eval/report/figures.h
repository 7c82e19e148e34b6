/* Figures by name, and the same as a table; tables. */
#pragma once

#include "base/arena.h"
#include "report.pb-c.h"

enum { FIGURES_MOST = 32 };

/* An empty table with room for so many rows; title and columns are borrowed. */
Eqloom__Table *table_of(struct arena *a, const char *title, char **columns, size_t n_columns,
                        size_t rows);
/* One row more; returns its cells, to be filled. */
char **table_row(struct arena *a, Eqloom__Table *t);

struct figures {
    struct arena *a;
    Eqloom__Table *table; /* of two columns */
    Eqloom__Value *values[FIGURES_MOST];
    size_t n;
};

struct figures figures_new(struct arena *a, const char *title, char *columns[2]);
/* The name is borrowed. `format` is for one double. Returns the cell of the value. */
char **figures_put(struct figures *f, const char *name, const char *format, double value);
static inline void figures_add(struct figures *f, const char *name, double value)
{
    figures_put(f, name, "%.6g", value);
}
