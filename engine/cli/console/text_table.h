/* Wraps text at blanks and prints tables as aligned text. Columns of numbers are right-aligned; on
 * a terminal the last column is wrapped. */
#pragma once

#include "base/arena.h"
#include "report.pb-c.h"

#include <stdio.h>

enum { WRAP_NEVER = 1 << 30 };

/* Returns the width of the terminal, or WRAP_NEVER if `to` is not a terminal, since other programs
 * read whole lines. */
int wrap_width(FILE *to);
/* Returns the number of columns that UTF-8 text occupies. */
int wrap_columns(const char *text);
/* Writes text, which begins in column `column`, and a newline. Lines after the first are indented;
 * no line is wider than `width` unless a single word is. */
void wrap_print(FILE *to, const char *text, int column, int indent, int width);

struct table {
    struct arena *arena;
    size_t n_columns, n_rows, cap;
    const char **cells; /* (n_rows, n_columns); row 0 holds the headings */
};

/* Headings in one string, separated by '|'. */
struct table *table_new(struct arena *a, const char *headings);
/* Adds a row. Copies n_columns cells, with control characters as blanks. */
void table_add(struct table *t, const char *const *cells);
void table_print(FILE *to, const struct table *t);
/* Prints every table of a report with title and note: at most `limit` rows, then the number of
 * omitted rows and `more`, which tells how to see them ("--limit"). */
void table_print_report(FILE *to, struct arena *a, const Eqloom__Report *report, size_t limit,
                        const char *more);
