/* Rows of figures by parameters: as aligned text, tab-separated values, JSON lines or LaTeX. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct figure_row {
    const char *node, *base; /* "eval@lr=0.1", "eval" */
    const char **params;     /* by figure_table.params; "": the row lacks it */
    const double **values;   /* by figure_table.figures; NULL: the row lacks it */
};

struct figure_table {
    struct arena *arena;
    const char *const *params, *const *figures;
    size_t n_params, n_figures;
    int *sense; /* by figures: 1 if higher is better, -1 if lower is, else 0 */
    struct figure_row *rows;
    size_t n_rows;
    bool by_variant; /* name rows by variant even if parameters distinguish them */
};

typedef void figure_writer(FILE *to, const struct figure_table *f);

/* `format` is "text" (or NULL), "tsv", "jsonl" or "latex"; any other is ERR_INPUT. */
enum err_code figure_writer_find(figure_writer **out, const char *format, bool json, struct err *e);
/* Whether the first n_params parameters of two rows are the same. */
bool figure_rows_alike(const struct figure_table *f, const struct figure_row *a,
                       const struct figure_row *b);
