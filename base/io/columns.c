#include "base/io/columns.h"

#include <string.h>

enum { COLUMNS_MAX = 10000 };

/* A cell and what ends it: the separator, '\n', 0 for the end of the text; '"' if its quote is not
 * closed, '!' if characters follow the closing quote. */
struct part {
    struct column_cell cell;
    char end;
    size_t next; /* where the following cell begins; for '!' where the fault is */
};

static bool is_blank(char c, char separator)
{
    return (c == ' ' || c == '\t' || c == '\r') && c != separator;
}

static char end_at(const char *text, size_t at, size_t n)
{
    return at < n ? text[at] : 0;
}

static struct part cell_at(const char *text, size_t at, size_t n, char separator)
{
    size_t begin = at;
    while (begin < n && is_blank(text[begin], separator))
        begin++;
    if (begin == n || text[begin] != '"') {
        size_t end = at;
        while (end < n && text[end] != separator && text[end] != '\n')
            end++;
        return (struct part){{at, end - at}, end_at(text, end, n), end + 1};
    }
    size_t end = ++begin;
    for (; end < n && (text[end] != '"' || end_at(text, end + 1, n) == '"'); end++)
        end += text[end] == '"';
    struct column_cell cell = {begin, end < n ? end - begin : n - begin};
    if (end >= n)
        return (struct part){cell, '"', begin - 1};
    while (++end < n && is_blank(text[end], separator))
        ;
    if (end < n && text[end] != separator && text[end] != '\n')
        return (struct part){cell, '!', end};
    return (struct part){cell, end_at(text, end, n), end + 1};
}

size_t columns_row_length(const char **open, const char *text, size_t n, char separator)
{
    struct part p = {.end = separator};
    while (p.end == separator)
        p = cell_at(text, p.next, n, separator);
    *open = p.end == '"' ? text + p.next : NULL;
    const char *end = p.end == '\n' ? text + p.next - 1
                      : p.end == '!' ? memchr(text + p.next, '\n', n - p.next)
                                     : NULL;
    return end ? (size_t)(end - text) : n;
}

/* Splits a line into all of its cells. */
static enum err_code split(struct column_cell **out, size_t *n, struct arena *a,
                           const struct text_line *line, char separator, struct err *e)
{
    struct part p = {.end = separator};
    size_t cap = 0;
    *out = NULL;
    for (*n = 0; p.end == separator;) {
        p = cell_at(line->text.text, p.next, line->text.len, separator);
        if (p.end == '!' || p.end == '"')
            return err_fail_at(e, &line->text, p.next,
                               p.end == '"' ? "this quote is never closed"
                                            : "a character after the quote that ends a cell");
        if (*n == COLUMNS_MAX)
            return err_fail_at(e, &line->text, p.next, "more than %d columns", COLUMNS_MAX);
        *out = arena_grow(a, *out, *n, &cap, sizeof **out);
        (*out)[(*n)++] = p.cell;
    }
    return OK;
}

struct columns columns_plain(struct arena *a, size_t n)
{
    size_t *places = arena_array(a, size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        places[i] = i;
    return (struct columns){'\t', false, n == 0, n, n, places};
}

/* ---- the header ---- */

static bool is_name(const struct text_line *header, struct column_cell c, const char *name)
{
    const char *text = header->text.text + c.at;
    for (; c.len && strchr(" \t", text[c.len - 1]); c.len--)
        ;
    for (; c.len && strchr(" \t", *text); c.len--)
        text++;
    return strlen(name) == c.len && !memcmp(text, name, c.len);
}

/* Returns how many of the names are columns; fails if one is twice. */
static enum err_code find_names(size_t *found, size_t *places, const struct text_line *header,
                                const struct column_cell *cells, size_t n_cells,
                                const char *const *names, size_t n, struct err *e)
{
    *found = 0;
    for (size_t k = 0; k < n; k++) {
        size_t times = 0;
        for (size_t i = 0; i < n_cells; i++)
            if (is_name(header, cells[i], names[k]) && !times++)
                places[k] = i;
            else if (times > 1)
                return err_fail_at(e, &header->text, cells[i].at, "two columns are called '%.100s'",
                                   names[k]);
        *found += times > 0;
    }
    return OK;
}

enum err_code columns_header(struct columns *out, struct arena *a, const struct text_line *header,
                           const char *const *names, size_t n, struct err *e)
{
    static const char separators[] = "\t,;";
    size_t *places = arena_array(a, size_t, n + 1), most = 0;
    const char *missing = names[0];
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < k; i++)
            if (!strcmp(names[i], names[k]))
                return err_fail_at(e, &header->text, 0, "the column '%.100s' is asked for twice", names[k]);
    for (const char *s = separators; *s; s++) {
        struct column_cell *cells;
        size_t width, found;
        if (split(&cells, &width, a, header, *s, NULL))
            continue;
        enum err_code code = find_names(&found, places, header, cells, width, names, n, e);
        if (code)
            return err_up(e, code);
        if (found == n) {
            *out = (struct columns){*s, true, false, width, n, places};
            return OK;
        }
        if (found > most) {
            most = found;
            for (size_t k = 0, there; k < n; k++)
                if (!find_names(&there, places, header, cells, width, names + k, 1, NULL) && !there)
                    missing = names[k];
        }
    }
    return err_fail_at(e, &header->text, 0, "the header has no column '%.100s'", missing);
}

/* ---- rows ---- */

enum err_code columns_row(struct column_cell **out, size_t *n, struct arena *a,
                        const struct columns *table, const struct text_line *row, struct err *e)
{
    struct column_cell *cells;
    size_t width;
    enum err_code code = split(&cells, &width, a, row, table->separator, e);
    if (code)
        return err_up(e, code);
    size_t empty = 0;
    while (empty < width && !cells[empty].len)
        empty++;
    if (empty < width && !table->any && width != table->width)
        return err_fail_at(e, &row->text, 0, "expected %zu columns %s, found %zu", table->width,
                           table->header ? "as in the header" : "with tabs between them", width);
    *n = empty == width ? 0 : table->any ? width : table->wanted;
    *out = table->any ? cells : arena_array(a, struct column_cell, table->wanted + 1);
    for (size_t i = 0; !table->any && i < *n; i++)
        (*out)[i] = cells[table->places[i]];
    return OK;
}
