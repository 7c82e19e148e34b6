/* Rows of figures by parameters: as aligned text, tab-separated values, JSON lines or LaTeX. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct figure_row {
    const char *node, *base; /* "eval@lr=0.1", "eval" */
    const char **params;     /* by figure_table.params; "": it has none */
    const double **values;   /* by figure_table.figures; NULL: it has none */
};

struct figure_table {
    struct arena *arena;
    const char *const *params, *const *figures;
    size_t n_params, n_figures;
    int *sense; /* by figures: 1, more is better; -1, less is; 0, neither */
    struct figure_row *rows;
    size_t n_rows;
    bool by_variant; /* rows are named by their variants even where parameters tell them apart */
};

typedef void figure_writer(FILE *to, const struct figure_table *f);

/* "text" (or NULL), "tsv", "jsonl", "latex"; else ERR_INPUT. */
enum err_code figure_writer_find(figure_writer **out, const char *format, bool json, struct err *e);
/* Whether the first n_params parameters of two rows are the same. */
bool figure_rows_alike(const struct figure_table *f, const struct figure_row *a,
                       const struct figure_row *b);
