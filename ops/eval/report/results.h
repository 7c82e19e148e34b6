/* What evaluations found, by what was asked: reports of one kind are the rows of one table. A
 * report may be of several kinds. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "report.pb-c.h"

#include <stdbool.h>

enum result_form {
    RESULT_PERCENT, /* of a part from 0 to 1 */
    RESULT_COUNT,
    RESULT_MEAN,     /* one decimal */
    RESULT_FRACTION, /* three */
};
enum result_role {
    RESULT_SCORE,   /* more is better */
    RESULT_LOSS,    /* less is */
    RESULT_ASIDE,   /* neither good nor bad by itself */
    RESULT_SETTING, /* of what was asked: told once where it is the same in all rows */
};
struct result_figure {
    const char *name, *title;
    enum result_form form;
    enum result_role role;
    const char *explanation; /* or NULL */
};
struct result_kind {
    const char *key;   /* a figure that all reports of this kind have, and no others */
    const char *name;  /* what its values are called by; "" for clusters */
    const char *title; /* NULL: that of what was evaluated */
    const char *note;  /* below the table */
    const struct result_figure *figures; /* in the order of columns, at most FIGURES_MOST; ended by
                                            name == NULL */
    /* Columns of the examples that say what was asked; behind them stand the answer and the rank of
     * the right one. 0: answers of several models are not put side by side. */
    size_t asked;
};
struct results {
    const struct result_kind *kind;
    const Eqloom__Report **rows; /* in the order given */
    size_t n;
};

/* One entry for each kind of which there is a report, in a fixed order. ERR_INPUT for a report of
 * no kind. */
enum err_code results_sort(struct results **out, size_t *n, struct arena *a,
                           Eqloom__Report *const *reports, size_t n_reports, struct err *e);
/* NULL when the report has none of that name. */
const double *report_value(const Eqloom__Report *r, const char *name);
/* 1: more of it is better; -1: less is; 0: neither, or it is no figure. */
int results_sense(const char *figure);
/* Whether any row has it. */
bool results_have(const struct results *r, const struct result_figure *f);
/* Whether it is a setting, and one for all rows. */
bool results_share(const struct results *r, const struct result_figure *f);
/* Whether a value of a score or a loss is the best of several rows. */
bool results_best(const struct results *r, const struct result_figure *f, double value);
/* "92.7", "61": what a cell shows. Lives in the arena. */
char *result_text(struct arena *a, const struct result_figure *f, double value);
/* All figures of all rows; `title` is borrowed. */
Eqloom__Table *results_table(struct arena *a, const struct results *r, const char *title);
/* The same by name: "trained encoder.mrr", "mistakes.trained encoder.auc". There is room for
 * FIGURES_MOST more behind values[*n] for each row. */
void results_values(Eqloom__Value **values, size_t *n, struct arena *a, const struct results *r);
/* Answers of several reports to the same examples, side by side: as many tables as there are such
 * groups. */
Eqloom__Table **results_together(size_t *n, struct arena *a, const struct results *r);
