/* Tables of text: rows with columns between tabs, commas or semicolons. A cell may stand in quotes
 * and then contain separators and line ends; "" in it is a quote (RFC 4180). */
#pragma once

#include "base/io/text_lines.h"

/* Where the columns that are wanted stand. */
struct columns {
    char separator;
    bool header; /* there was one */
    bool any;      /* rows may have any number of columns, all of which are wanted */
    size_t width;  /* columns of a row */
    size_t wanted; /* columns that are wanted */
    const size_t *places;
};

/* A cell without its quotes, as a part of the line. */
struct column_cell {
    size_t at, len;
};

/* A table of `n` columns between tabs without a header, 0: any number. */
struct columns columns_plain(struct arena *a, size_t n);
/* Reads a header and finds columns by name. The names decide which separator it is. */
enum err_code columns_header(struct columns *out, struct arena *a, const struct text_line *header,
                           const char *const *names, size_t n, struct err *e);
/* Returns the cells that are wanted; none of a row whose cells are all empty. ERR_INPUT if the row
 * has more or fewer columns than the table. */
enum err_code columns_row(struct column_cell **out, size_t *n, struct arena *a,
                        const struct columns *table, const struct text_line *row, struct err *e);
/* The length of the row at the beginning of a text, without its end; n if there is no end. *open is
 * a quote that is not closed, or NULL. */
size_t columns_row_length(const char **open, const char *text, size_t n, char separator);
