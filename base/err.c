/* Error values and fatal errors; see err.h. Positions are computed from byte offsets only when an
 * error arises. */
#include "base/err.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_frame(struct err *e, const char *file, int line)
{
    if (e->n_frames < ERR_FRAMES) {
        e->frames[e->n_frames].file = file;
        e->frames[e->n_frames].line = line;
        e->n_frames++;
    }
}

void err_clear(struct err *e)
{
    if (e)
        memset(e, 0, sizeof *e);
}

static void set(struct err *e, enum err_code code, const char *file, int line, const char *format,
                va_list args)
{
    err_clear(e);
    e->code = code;
    vsnprintf(e->message, sizeof e->message, format, args);
    add_frame(e, file, line);
}

enum err_code err_fail_from(struct err *e, enum err_code code, const char *file, int line,
                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (e)
        set(e, code, file, line, format, args);
    va_end(args);
    return code;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static int count_code_points(const char *from, const char *to)
{
    int n = 0;
    for (; from < to; from++)
        n += !is_continuation(*from);
    return n;
}

void err_locate(struct err *e, const struct source_text *source, size_t offset)
{
    if (!e || e->line || !source)
        return;
    if (offset > source->len)
        offset = source->len;
    const char *at = source->text + offset, *end = source->text + source->len;
    const char *start = source->text;
    int line = 1;
    for (const char *p = source->text; p < at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    const char *stop = at;
    while (stop < end && *stop != '\n' && *stop != '\r')
        stop++;
    snprintf(e->input_file, sizeof e->input_file, "%s", source->name);
    e->line = line;
    e->column = count_code_points(start, at) + 1;
    /* Shows a window of the line around the offset, cut at code points. */
    enum { BEFORE = 100, SHOWN = (int)sizeof e->input_line - 1 };
    const char *from = start;
    if (at - from > BEFORE)
        from = at - BEFORE;
    while (from < at && is_continuation(*from))
        from++;
    if (stop - from > SHOWN)
        stop = from + SHOWN;
    while (stop > from && stop < end && is_continuation(*stop))
        stop--;
    int n = 0;
    for (const char *p = from; p < stop; p++)
        e->input_line[n++] = *p == '\t' || (unsigned char)*p < 32 ? ' ' : *p;
    e->input_line[n] = 0;
    e->caret = count_code_points(from, at);
}

enum err_code err_fail_at_from(struct err *e, const struct source_text *source, size_t offset,
                               const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (e)
        set(e, ERR_INPUT, file, line, format, args);
    va_end(args);
    err_locate(e, source, offset);
    return ERR_INPUT;
}

void err_hint(struct err *e, const char *format, ...)
{
    if (!e)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(e->hint, sizeof e->hint, format, args);
    va_end(args);
}

void err_detail(struct err *e, const char *text)
{
    static const char rest[] = "    ...";
    if (!e)
        return;
    size_t n = strlen(text);
    if (n >= sizeof e->detail) {
        n = sizeof e->detail - sizeof rest;
        while (n > 0 && text[n - 1] != '\n')
            n--;
        memcpy(e->detail + n, rest, sizeof rest);
    } else {
        e->detail[n] = '\0';
    }
    memcpy(e->detail, text, n);
}

enum err_code err_up_from(struct err *e, enum err_code code, const char *file, int line)
{
    if (code != OK && e)
        add_frame(e, file, line);
    return code;
}

const char *err_code_name(enum err_code code)
{
    switch (code) {
    case OK: return "ok";
    case ERR_NOTFOUND: return "not found";
    case ERR_INPUT: return "bad input";
    case ERR_AMBIGUOUS: return "ambiguous";
    case ERR_CORRUPT: return "corrupt";
    case ERR_IO: return "input/output";
    case ERR_BUSY: return "busy";
    case ERR_LIMIT: return "limit passed";
    case ERR_NOMEM: return "out of memory";
    case ERR_CANCELLED: return "cancelled";
    case ERR_UNSUPPORTED: return "unsupported";
    case ERR_FAILED: return "failed";
    }
    return "?";
}

/* Edit distance with adjacent transpositions (optimal string alignment). */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    enum { MOST = 64 };
    size_t rows[3][MOST + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    if (m > MOST || n > MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *reused = before;
        before = above;
        above = row;
        row = reused;
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *err_nearest(const char *word, const char *const *names, size_t n)
{
    size_t length = strlen(word);
    size_t best = length / 3 > 1 ? length / 3 + 1 : 2; /* exclusive bound */
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(word, length, names[i], strlen(names[i]));
        if (d < best) {
            best = d;
            found = names[i];
        }
    }
    return found;
}

enum err_code err_suggest(enum err_code code, const char *word, const char *const *names, size_t n,
                          struct err *e)
{
    const char *near = err_nearest(word, names, n);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    return code;
}

void last_words(const char *line, size_t n)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said))
        for (;;)
            pause();
    /* stdio would allocate buffers, and other threads may hold its locks. */
    if (write(STDERR_FILENO, line, n) < 0)
        _exit(1);
}

void out_of_memory(size_t bytes)
{
    char line[200];
    int n =
        snprintf(line, sizeof line,
                 "eqloom: error: out of memory (%zu bytes requested); committed results are kept: "
                 "run again with fewer threads (-j 1) or with more memory\n",
                 bytes);
    last_words(line, (size_t)n);
    _exit(1);
}

void *must_calloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        out_of_memory(n * size);
    return p;
}
