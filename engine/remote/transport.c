/* Runs the programs that transport packs; see transport.h. */
#include "engine/remote/transport.h"

#include "base/io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static enum err_code open_scratch(FILE **out, struct transport *t, struct err *e)
{
    int fd = open(t->scratch, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    *out = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    return *out ? OK
                : err_fail(e, ERR_IO, "cannot make a file in %s: %s", t->scratch, strerror(errno));
}

/* Returns the last line that is not empty. */
static const char *last_line(char *text)
{
    size_t n = strlen(text);
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = 0;
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static bool is_cancelled(void *session)
{
    return session_cancelled(session);
}

enum err_code transport_run(FILE **out, struct transport *t, const char *const *argv, FILE *in,
                            struct err *e)
{
    struct arena a = {0};
    struct process_end end;
    FILE *written = NULL;
    enum err_code code = out ? open_scratch(&written, t, e) : OK;
    struct process p = {.argv = argv,
                        .in = in ? fileno(in) : -1,
                        .out = written ? fileno(written) : -1,
                        .cancelled = is_cancelled,
                        .arg = t->session};
    if (!code)
        code = process_run(&end, &a, &p, e);
    if (!code && end.status)
        code = err_fail(e, ERR_IO, "%s ended with status %d: %s", argv[0], end.status,
                        last_line(arena_strdup(&a, end.errors)));
    if (code && written)
        fclose(written);
    else if (out) {
        rewind(written);
        *out = written;
    }
    arena_free(&a);
    return err_up(e, code);
}
