#include "base/io/text_lines.h"

#include "base/io/columns.h"
#include "base/io/text_file.h"
#include "base/io/unpack.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { PART = 1 << 16, LINE_MOST = 16 << 20 };

static const char input_name[] = "<standard input>";

struct text_lines text_lines_of(const struct source_text *text)
{
    return (struct text_lines){
        .name = text->name, .text = text->text, .len = text->len, .ended = true};
}

struct text_lines text_lines_input(struct arena *a)
{
    return (struct text_lines){.name = input_name, .input = true, .a = a};
}

void text_lines_free(struct text_lines *x)
{
    buf_free(&x->held);
}

/* ---- standard input ---- */

/* Reads what there is now; drops what has been passed. */
static enum err_code read_more(struct text_lines *x, struct err *e)
{
    char part[PART];
    ssize_t n;
    while ((n = read(STDIN_FILENO, part, sizeof part)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        return err_fail(e, ERR_IO, "cannot read %s: %s", x->name, strerror(errno));
    if (x->at) {
        memmove(x->held.data, x->held.data + x->at, x->held.len -= x->at);
        x->at = 0;
    }
    buf_add(&x->held, part, (size_t)n);
    x->ended = n == 0;
    x->text = x->held.data;
    x->len = x->held.len;
    return OK;
}

/* The first bytes tell a byte order mark, an encoding and compression. Compressed input is read to
 * its end. */
static enum err_code open_input(struct text_lines *x, struct err *e)
{
    enum { TELLING = 6 };
    enum err_code code = OK;
    while (!code && !x->ended && x->held.len < TELLING && !memchr(x->len ? x->text : "", '\n', x->len))
        code = read_more(x, e);
    bool packed = !code && unpack_is_archive(span_of(x->text, x->len));
    while (!code && packed && !x->ended)
        code = x->len > TEXT_FILE_MAX ? err_fail(e, ERR_LIMIT, "%s: too large", x->name)
                                      : read_more(x, e);
    struct source_text text, bytes = {x->name, x->text ? x->text : "", x->len};
    if (!packed && bytes.len > TELLING)
        bytes.len = TELLING;
    if (!code)
        code = text_file_decode(&text, x->a, &bytes, TEXT_FILE_MAX, e);
    if (!code && packed) {
        x->input = false;
        x->text = text.text;
        x->len = text.len;
    } else if (!code) {
        x->at = (size_t)(text.len < bytes.len && bytes.text[0] == '\xef' ? 3 : 0);
    }
    return err_up(e, code);
}

/* ---- lines ---- */

static size_t line_length(const struct text_lines *x, const char **open)
{
    const char *text = x->text + x->at;
    size_t n = x->len - x->at;
    if (x->separator)
        return columns_row_length(open, text, n, x->separator);
    const char *end = n ? memchr(text, '\n', n) : NULL;
    *open = NULL;
    return end ? (size_t)(end - text) : n;
}

static bool is_only_blanks(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", s[i]) && s[i])
        i++;
    return i == n;
}

enum err_code text_lines_next(struct text_line *out, struct text_lines *x, struct err *e)
{
    enum err_code code = x->input && !x->text && !x->ended ? open_input(x, e) : OK;
    const char *open = NULL;
    size_t n = code ? 0 : line_length(x, &open);
    while (!code && x->at + n == x->len && !x->ended && n <= LINE_MOST) {
        code = read_more(x, e);
        n = code ? 0 : line_length(x, &open);
    }
    if (code)
        return err_up(e, code);
    if (x->at >= x->len)
        return ERR_NOTFOUND;
    const char *line = x->text + x->at;
    *out = (struct text_line){{x->name, line, n}, x->number + 1};
    if (open)
        return text_line_up(err_fail_at(e, &out->text, (size_t)(open - line),
                                        "this quote is never closed"),
                            out, e);
    if (x->input && n > LINE_MOST)
        return err_fail(e, ERR_INPUT, "%s: line %zu has more than %d bytes", x->name, x->number + 1,
                        LINE_MOST);
    for (const char *p = line; p < line + n; p++)
        x->number += *p == '\n';
    x->number++;
    x->at += n + (x->at + n < x->len); /* the last line may have no end */
    if (n && line[n - 1] == '\r')
        out->text.len--;
    if (is_only_blanks(line, n))
        out->text.len = 0;
    return OK;
}

enum err_code text_line_up(enum err_code code, const struct text_line *line, struct err *e)
{
    if (code && e && e->line)
        e->line += (int)line->number - 1;
    return err_up(e, code);
}
