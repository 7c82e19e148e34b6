/* Runs the programs that transport packs; see transport.h. */
#include "engine/remote/transport.h"

#include "base/os.h"
#include "base/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static enum err_code open_scratch(FILE **out, struct transport *t, struct err *e)
{
    int fd = open(t->scratch, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    *out = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    return *out ? OK
                : err_fail(e, ERR_IO, "cannot make a file in %s: %s", t->scratch, strerror(errno));
}

/* What a program says of its failure: its last line that begins with its name, as curl's does
 * before lines of advice, else its last line. */
static const char *find_reason(char *text, const char *name)
{
    const char *last = "", *own = NULL;
    size_t n = strlen(name);
    for (char *rest = text, *line; (line = strsep(&rest, "\r\n"));) {
        if (*line)
            last = line;
        if (!strncmp(line, name, n) && line[n] == ':')
            own = line;
    }
    return own ? own : last;
}

/* ---- bounds ---- */

struct watch {
    const struct transport *t;
    const struct transport_request *q;
    int in, out;              /* -1: none */
    uint64_t moved, since_ns; /* bytes, when progress was seen last */
    char why[100];            /* it was ended */
};

static uint64_t file_size(int fd)
{
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_size : 0;
}

static bool begins(int fd, const char *with)
{
    char text[16] = "";
    size_t n = strlen(with);
    return n > sizeof text || pread(fd, text, n, 0) < (ssize_t)n || !memcmp(text, with, n);
}

/* Called ten times a second. What the program has read of `in` is seen by the offset, which it
 * shares with us. */
static bool give_up(void *arg)
{
    struct watch *w = arg;
    uint64_t now = os_monotonic_ns(), patience = w->t->patience_s;
    off_t taken = w->in >= 0 ? lseek(w->in, 0, SEEK_CUR) : 0;
    uint64_t moved = file_size(w->out) + (taken > 0 ? (uint64_t)taken : 0);
    if (moved >= w->moved + TRANSPORT_RATE * patience) {
        w->moved = moved;
        w->since_ns = now;
    }
    if (w->q->begin && !begins(w->out, w->q->begin))
        snprintf(w->why, sizeof w->why, "does not send a pack");
    else if (now > w->q->until_ns)
        snprintf(w->why, sizeof w->why, "takes longer than a transfer may");
    else if (!w->q->watches_itself && now - w->since_ns > patience * 1000000000)
        snprintf(w->why, sizeof w->why, "moves less than %d bytes per second, for %u s",
                 TRANSPORT_RATE, w->t->patience_s);
    return *w->why || session_cancelled(w->t->session);
}

/* The store needs room, too. At least 1, since 0 is no limit. */
static uint64_t bound_bytes(uint64_t limit, const char *scratch)
{
    struct statvfs st;
    uint64_t half = statvfs(scratch, &st) ? limit : (uint64_t)st.f_bavail * st.f_frsize / 2;
    return half >= limit ? limit : half + !half;
}

uint64_t transport_until(unsigned seconds)
{
    return os_monotonic_ns() + seconds * (uint64_t)1000000000;
}

enum err_code transport_add_name(struct name_map *names, const char *name, struct err *e)
{
    static const char digits[] = "0123456789abcdef";
    if (strspn(name, digits) != DIGEST_HEX - 1 || strcmp(name + DIGEST_HEX - 1, ".pack") != 0)
        return OK;
    if (names->n == TRANSPORT_LIST_NAMES)
        return err_fail(e, ERR_IO, "a folder with more than %d packs", TRANSPORT_LIST_NAMES);
    name_map_put(names, name, 1, NULL);
    return OK;
}

enum err_code transport_run(FILE **out, struct transport *t, const struct transport_request *q,
                            struct err *e)
{
    struct arena a = {0};
    struct process_end end;
    FILE *written = NULL;
    const char *name = q->argv[0];
    enum err_code code = out ? open_scratch(&written, t, e) : OK;
    struct watch w = {.t = t,
                      .q = q,
                      .in = q->in ? fileno(q->in) : -1,
                      .out = written ? fileno(written) : -1,
                      .since_ns = os_monotonic_ns()};
    uint64_t limit = out ? bound_bytes(q->limit_bytes, t->scratch) : 0;
    struct process p = {.argv = q->argv,
                        .in = w.in,
                        .out = w.out,
                        .limit_bytes = limit,
                        .cancelled = give_up,
                        .arg = &w};
    if (!code)
        code = process_run(&end, &a, &p, e);
    if (code == ERR_CANCELLED && *w.why)
        code = err_fail(e, ERR_IO, "%s %s", name, w.why);
    else if (!code && limit && end.status && file_size(w.out) >= limit)
        code = err_fail(e, ERR_IO, "%s sends more than %.1f MB", name, (double)limit / 1e6);
    else if (!code && end.status)
        code = err_fail(e, ERR_IO, "%s ended with status %d: %s", name, end.status,
                        find_reason(arena_strdup(&a, end.errors), name));
    if (code && written)
        fclose(written);
    else if (out && !code) {
        rewind(written);
        *out = written;
    }
    arena_free(&a);
    return err_up(e, code);
}
