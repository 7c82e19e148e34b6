/* Text broken into lines at blanks, and tables as aligned text; columns of numbers are aligned to
 * the right. On a terminal the last column is wrapped. */
#pragma once

#include "base/arena.h"
#include "report.pb-c.h"

#include <stdio.h>

enum { WRAP_NEVER = 1 << 30 };

/* The width of the terminal; WRAP_NEVER if `to` is not one: other programs read whole lines. */
int wrap_width(FILE *to);
/* Columns that UTF-8 text takes. */
int wrap_columns(const char *text);
/* Writes text, which begins in column `column`, and a newline. Lines after the first are indented;
 * none is wider than `width` unless a word is. */
void wrap_print(FILE *to, const char *text, int column, int indent, int width);

struct table {
    struct arena *arena;
    size_t n_columns, n_rows, cap;
    const char **cells; /* rows of n_columns; row 0 are the headings */
};

/* Headings in one string, separated by '|'. */
struct table *table_new(struct arena *a, const char *headings);
/* n_columns cells; copied, one line each. */
void table_add(struct table *t, const char *const *cells);
void table_print(FILE *to, const struct table *t);
/* Every table of a report, with title and note: at most `limit` rows, then the number of the others
 * and `more`, which says how to see them ("--limit"). */
void table_print_report(FILE *to, struct arena *a, const Eqloom__Report *report, size_t limit,
                        const char *more);
