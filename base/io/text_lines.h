/* The lines of a text: of a file that is in memory, or of standard input as it comes, so that each
 * is answered before the next is read. A line is a text of its own with the name of its source; it
 * may be other bytes than text (utf8_check). Errors in it get their place by text_line_up. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct text_line {
    struct source_text text; /* without its end; len 0 if there are only blanks */
    size_t number;           /* from 1 */
};

struct text_lines {
    char separator; /* set between the columns of a table, whose quoted cells may have line ends */
    /* private */
    const char *name;
    const char *text;
    size_t at, len, number;
    bool input, ended; /* standard input, to its end */
    struct buf held;   /* what has come of it */
    struct arena *a;   /* for input that is compressed */
};

/* The text must stay valid. */
struct text_lines text_lines_of(const struct source_text *text);
/* Standard input; the arena holds it if it is compressed. */
struct text_lines text_lines_input(struct arena *a);
void text_lines_free(struct text_lines *x);
/* The next line; the previous one is no longer valid if it came from standard input. ERR_NOTFOUND
 * at the end; ERR_INPUT where nothing can follow: a line without an end, another encoding. */
enum err_code text_lines_next(struct text_line *out, struct text_lines *x, struct err *e);

/* Moves the place of an error in the line to its place in the source; returns code. */
enum err_code text_line_up(enum err_code code, const struct text_line *line, struct err *e);
