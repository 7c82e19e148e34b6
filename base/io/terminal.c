/* See terminal.h. A guard is a stdio stream (fopencookie), so that code that prints need not know
 * of it. */
#include "base/io/terminal.h"

#include "base/text/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* For stdout and stderr: global, as these are. */
static struct guard {
    FILE *guarded, *raw;
    uint8_t held[4]; /* the beginning of an incomplete character */
    size_t n;
} guards[2];

static FILE *raw_of(FILE *to)
{
    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
        if (guards[i].guarded == to)
            return guards[i].raw;
    return to;
}

/* Writes the pending characters, except an incomplete one. */
static void let_out(struct guard *g)
{
    while (g->n) {
        size_t length = utf8_character(g->held, g->n);
        if (length == UTF8_CUT)
            return;
        uint32_t unseen = length ? utf8_unseen(g->held, length) : g->held[0];
        if (length == 0 || unseen || !g->held[0])
            fprintf(g->raw, unseen > 0xff ? "\\u%04" PRIx32 : "\\x%02" PRIx32, unseen);
        else
            fwrite(g->held, 1, length, g->raw);
        length += length == 0;
        g->n -= length;
        memmove(g->held, g->held + length, g->n);
    }
}

static ssize_t write_guarded(void *cookie, const char *text, size_t n)
{
    struct guard *g = cookie;
    for (size_t i = 0; i < n; i++) {
        g->held[g->n++] = (uint8_t)text[i];
        let_out(g);
    }
    return fflush(g->raw) ? 0 : (ssize_t)n;
}

FILE *terminal_guard(FILE *to)
{
    struct guard *g = &guards[guards[0].raw != NULL];
    if (!isatty(fileno(to)) || g->raw)
        return to;
    g->raw = to;
    g->guarded = fopencookie(g, "w", (cookie_io_functions_t){.write = write_guarded});
    if (!g->guarded)
        abort();
    setvbuf(g->guarded, NULL, _IOLBF, BUFSIZ);
    return g->guarded;
}

void terminal_control(FILE *to, const char *sequence)
{
    fflush(to);
    fputs(sequence, raw_of(to));
    fflush(raw_of(to));
}

bool terminal_is(FILE *to)
{
    int fd = fileno(raw_of(to));
    return fd >= 0 && isatty(fd) == 1;
}

int terminal_width(FILE *to)
{
    struct winsize w;
    int fd = fileno(raw_of(to));
    return fd >= 0 && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}
