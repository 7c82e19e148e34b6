/* Results of evaluations, grouped by the kind of evaluation: reports of one kind are the rows of
 * one table. A report may have several kinds. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "report.pb-c.h"

#include <stdbool.h>

enum result_form {
    RESULT_PERCENT, /* of a fraction from 0 to 1 */
    RESULT_COUNT,
    RESULT_MEAN,     /* one decimal */
    RESULT_FRACTION, /* three decimals */
};
enum result_role {
    RESULT_SCORE,   /* more is better */
    RESULT_LOSS,    /* less is better */
    RESULT_ASIDE,   /* neither good nor bad by itself */
    RESULT_SETTING, /* of the evaluation: shown once if it is the same in all rows */
};
struct result_figure {
    const char *name, *title;
    enum result_form form;
    enum result_role role;
    const char *explanation; /* or NULL */
};
struct result_kind {
    const char *key;   /* a figure that all reports of this kind have, and no others */
    const char *name;  /* prefix of the names of its values; "" for clusters */
    const char *title; /* NULL: named after what was evaluated */
    const char *note;  /* below the table */
    const struct result_figure *figures; /* in the order of columns, at most FIGURES_MOST; ended by
                                            name == NULL */
    /* The number of leading columns of the examples that state the question; the answer and the
     * rank of the right one follow. 0: answers of several models are not shown side by side. */
    size_t asked;
};
struct results {
    const struct result_kind *kind;
    const Eqloom__Report **rows; /* in the order given */
    size_t n;
};

/* Returns one entry for each kind that has a report, in a fixed order. ERR_INPUT for a report that
 * has no kind. */
enum err_code results_sort(struct results **out, size_t *n, struct arena *a,
                           Eqloom__Report *const *reports, size_t n_reports, struct err *e);
/* Returns NULL if the report has no value of this name. */
const double *report_value(const Eqloom__Report *r, const char *name);
/* 1: more is better; -1: less is better; 0: neither, or no such figure. */
int results_sense(const char *figure);
/* Whether any row has this figure. */
bool results_have(const struct results *r, const struct result_figure *f);
/* Whether it is a setting with the same value in all rows. */
bool results_share(const struct results *r, const struct result_figure *f);
/* Whether a value of a score or a loss is the best of several rows. */
bool results_best(const struct results *r, const struct result_figure *f, double value);
/* Text of a cell in the arena: "92.7", "61". */
char *result_text(struct arena *a, const struct result_figure *f, double value);
/* The table of all figures of all rows; `title` is borrowed. */
Eqloom__Table *results_table(struct arena *a, const struct results *r, const char *title);
/* Appends all figures with their names: "trained encoder.mrr", "mistakes.trained encoder.auc". The
 * caller provides room for FIGURES_MOST values per row after values[*n]. */
void results_values(Eqloom__Value **values, size_t *n, struct arena *a, const struct results *r);
/* Answers of several reports to the same examples, side by side: one table for each such group. */
Eqloom__Table **results_together(size_t *n, struct arena *a, const struct results *r);
