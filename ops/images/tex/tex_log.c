/* See tex_log.h. The preamble (tex_source.c) writes "[[eqloom 12]]" before and "[[eqloom 12 done]]"
 * after file 12; errors begin with "! ", and the line that follows with "l." and a number says
 * where. */
#include "ops/images/tex/tex_log.h"

#include "base/text/utf8.h"
#include "ops/latex/source/decode.h"

#include <stdio.h>
#include <string.h>

enum { ERROR_MAX = 300 };

/* Valid UTF-8, one blank for several. */
static const char *clean(struct arena *a, const char *text)
{
    size_t n = 0;
    char *out = arena_strdup(a, text);
    for (; *text; text++) {
        char c = strchr(" \t\r", *text) ? ' ' : *text;
        if (c != ' ' || (n && out[n - 1] != ' '))
            out[n++] = c;
    }
    out = decode_utf8(a, out, n);
    out[utf8_prefix((const uint8_t *)out, n < ERROR_MAX ? n : ERROR_MAX)] = 0;
    return out;
}

void tex_log_read(struct tex_outcome *out, size_t n, struct arena *a, struct span log)
{
    const char *at = (const char *)log.data, *end = at + log.len, *next;
    const char *error = NULL; /* whose place is to come */
    struct tex_outcome *now = NULL;
    for (; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline ? newline + 1 : end;
        const char *line = arena_strndup(a, at, (size_t)((newline ? newline : end) - at));
        unsigned long name = 0;
        int used = 0;
        if (sscanf(line, "[[eqloom %lu]]%n", &name, &used) == 1 && used && name - 1 < n) {
            now = &out[name - 1];
            error = NULL;
        } else if (sscanf(line, "[[eqloom %lu done]]%n", &name, &used) == 1 && used) {
            if (name - 1 < n && now == &out[name - 1])
                now->done = true;
            now = NULL;
        } else if (now && !now->error && !strncmp(line, "! ", 2)) {
            now->error = error = clean(a, line);
        } else if (now && error && !strncmp(line, "l.", 2) && line[2] >= '0' && line[2] <= '9') {
            now->error = clean(a, arena_printf(a, "%s %s", error, line));
            error = NULL;
        }
    }
}

const char *tex_log_reason(const char *error)
{
    static const char *const known[][2] = {
        {"Undefined control sequence", "unknown command"},
        {"LaTeX Error: Environment", "unknown environment"},
        {"LaTeX Error: Unicode character", "unknown character"},
        {"A group or environment is not closed", "not closed"},
        {"TeX capacity exceeded", "beyond TeX's capacity"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(error, known[i][0]))
            return known[i][1];
    return "error of TeX";
}
