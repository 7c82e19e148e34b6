/* Text wrapping and tables; see text_table.h. */
#include "engine/cli/console/text_table.h"

#include "base/io/terminal.h"
#include "engine/cli/console/cli.h"

#include <stdlib.h>
#include <string.h>

enum { NARROWEST = 40 };

int wrap_width(FILE *to)
{
    if (!terminal_is(to))
        return WRAP_NEVER;
    int width = terminal_width(to);
    return width > NARROWEST ? width : NARROWEST;
}

static int columns(const char *text, size_t n)
{
    int wide = 0;
    for (size_t i = 0; i < n; i++)
        wide += ((unsigned char)text[i] & 0xc0) != 0x80;
    return wide;
}

int wrap_columns(const char *text)
{
    return columns(text, strlen(text));
}

void wrap_print(FILE *to, const char *text, int column, int indent, int width)
{
    /* A deep indentation would leave no room for text. */
    if (indent > width / 2)
        indent = width / 2;
    while (*text) {
        size_t blanks = strspn(text, " "), n = strcspn(text + blanks, " \n");
        int wide = columns(text + blanks, n);
        if (text[blanks] == '\n') {
            fprintf(to, "\n%*s", text[blanks + 1] == '\n' ? 0 : indent, "");
            column = indent;
            text += blanks + 1;
            continue;
        }
        if (n && column > indent && column + (int)blanks + wide > width) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (n) {
            fprintf(to, "%*s", (int)blanks, "");
            column += (int)blanks;
        }
        fwrite(text + blanks, 1, n, to);
        column += wide;
        text += blanks + n;
    }
    fputc('\n', to);
}

/* ---- tables ---- */

struct table *table_new(struct arena *a, const char *headings)
{
    struct table *t = arena_new(a, struct table);
    t->arena = a;
    char *rest = arena_strdup(a, headings), *cell;
    t->n_columns = 1;
    for (const char *p = headings; *p; p++)
        t->n_columns += *p == '|';
    const char **cells = arena_array(a, const char *, t->n_columns);
    for (size_t i = 0; (cell = strsep(&rest, "|")); i++)
        cells[i] = cell;
    table_add(t, cells);
    return t;
}

void table_add(struct table *t, const char *const *cells)
{
    t->cells = arena_grow(t->arena, t->cells, t->n_rows, &t->cap, t->n_columns * sizeof *t->cells);
    for (size_t i = 0; i < t->n_columns; i++) {
        char *cell = arena_strdup(t->arena, cells[i] ? cells[i] : "");
        for (char *p = cell; *p; p++)
            if ((unsigned char)*p < 32)
                *p = ' ';
        t->cells[t->n_rows * t->n_columns + i] = cell;
    }
    t->n_rows++;
}

static bool is_number(const char *s)
{
    char *end;
    strtod(s, &end);
    return end != s && (!*end || !strcmp(end, "%"));
}

static void measure(int *widths, bool *right, const struct table *t)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        right[c] = t->n_rows > 1;
        for (size_t r = 0; r < t->n_rows; r++) {
            const char *cell = t->cells[r * t->n_columns + c];
            if (wrap_columns(cell) > widths[c])
                widths[c] = wrap_columns(cell);
            if (r && *cell && strcmp(cell, "-") && !is_number(cell))
                right[c] = false;
        }
    }
}

/* The last column, if it is text, is wrapped. */
static void print_row(FILE *to, const struct table *t, size_t row, const int *widths,
                      const bool *right, int line)
{
    int owed = 0; /* blanks not yet written, so that no line ends in blanks */
    int column = 0;
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *cell = t->cells[row * t->n_columns + c];
        int pad = widths[c] - wrap_columns(cell);
        owed += right[c] ? pad : 0;
        if (*cell) {
            fprintf(to, "%*s", owed, "");
            if (c + 1 == t->n_columns && !right[c]) {
                wrap_print(to, cell, column, column, line);
                return;
            }
            fputs(cell, to);
            owed = 0;
        }
        owed += (right[c] ? 0 : pad) + 2;
        column += widths[c] + 2;
    }
    fputc('\n', to);
}

void table_print(FILE *to, const struct table *t)
{
    int *widths = arena_array(t->arena, int, t->n_columns), line = wrap_width(to);
    bool *right = arena_array(t->arena, bool, t->n_columns);
    measure(widths, right, t);
    for (size_t r = 0; r < t->n_rows; r++)
        print_row(to, t, r, widths, right, line);
}

void table_print_report(FILE *to, struct arena *a, const Eqloom__Report *report, size_t limit,
                        const char *more)
{
    for (size_t i = 0; i < report->n_tables; i++) {
        const Eqloom__Table *from = report->tables[i];
        if (from->title[0])
            fprintf(to, "%s%s\n", i ? "\n" : "", from->title);
        if (!from->n_columns)
            continue;
        struct table t = {.arena = a, .n_columns = from->n_columns};
        table_add(&t, (const char *const *)from->columns);
        const char **cells = arena_array(a, const char *, from->n_columns);
        size_t rows = from->n_rows < limit ? from->n_rows : limit;
        for (size_t r = 0; r < rows; r++) {
            const Eqloom__Row *row = from->rows[r];
            for (size_t c = 0; c < from->n_columns; c++)
                cells[c] = c < row->n_cells ? row->cells[c] : "";
            table_add(&t, cells);
        }
        table_print(to, &t);
        if (rows < from->n_rows)
            fprintf(to, "... %zu more (%s)\n", from->n_rows - rows, more);
        if (from->note[0])
            fprintf(to, "%s\n", from->note);
    }
}
