/* See process.h. Between fork and exec the child calls only async-signal-safe functions; a failed
 * exec sends errno through a pipe that a successful exec closes. */
#include "base/process/process.h"

#include "base/os.h"
#include "base/process/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 64, TAIL = 4096, LOOK_MS = 100, LINE = 400 };

struct child {
    pid_t pid;
    int errors; /* reads its standard error; non-blocking */
    char tail[2 * TAIL];
    size_t n;
    char line[LINE + 1]; /* the last line, incomplete */
    size_t line_len;
};

/* ---- in the child ---- */

/* Makes `to` a copy of `from`, or of /dev/null. */
static bool set_stream(int to, int from)
{
    int fd = from >= 0 ? from : open("/dev/null", to ? O_WRONLY : O_RDONLY);
    return fd >= 0 && dup2(fd, to) == to;
}

static _Noreturn void become(const struct process *p, int errors, int failure, pid_t parent)
{
    sigset_t none;
    struct rlimit files = {p->limit_bytes, p->limit_bytes};
    struct rlimit memory = {p->limit_memory, p->limit_memory};
    struct rlimit time = {p->limit_cpu_s, p->limit_cpu_s + 1};
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool ready = getppid() == parent && set_stream(0, p->in) &&
                 set_stream(1, p->out_is_errors ? errors : p->out) && set_stream(2, errors) &&
                 dup2(failure, 3) == 3 && fcntl(3, F_SETFD, FD_CLOEXEC) == 0 &&
                 close_range(4, ~0u, 0) == 0 &&
                 (!p->limit_cpu_s || setrlimit(RLIMIT_CPU, &time) == 0) &&
                 (!p->limit_memory || setrlimit(RLIMIT_AS, &memory) == 0) &&
                 (!p->limit_bytes || setrlimit(RLIMIT_FSIZE, &files) == 0) &&
                 (!p->dir || chdir(p->dir) == 0);
    if (ready)
        execvpe(p->argv[0], (char *const *)p->argv, p->env ? (char *const *)p->env : environ);
    int why = errno;
    if (write(3, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* Lets the program be a child of a guard. */
static _Noreturn void guard(const struct process *p, int errors, int failure, pid_t parent)
{
    pid_t self = getpid(), program = guard_prepare(parent) ? _Fork() : -1;
    int why = errno;
    if (program == 0)
        become(p, errors, failure, self);
    if (program < 0)
        _exit(write(failure, &why, sizeof why) < 0 ? 126 : 127);
    for (int fd = 0; fd <= 2; fd++)
        set_stream(fd, -1);
    close_range(3, ~0u, 0);
    guard_watch(program);
}

/* ---- in the parent ---- */

/* Uses descriptors above the three streams and the pipe that the child moves there. */
static enum err_code open_pipe(int ends[2], struct err *e)
{
    int low[2];
    if (pipe2(low, O_CLOEXEC))
        return err_fail(e, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 4);
        close(low[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0
               ? OK
               : err_fail(e, ERR_IO, "cannot make a pipe: %s", strerror(errno));
}

static enum err_code start(struct child *c, const struct process *p, struct err *e)
{
    int errors[2] = {-1, -1}, failure[2] = {-1, -1}, why = 0;
    pid_t parent = getpid();
    if (p->dir && access(p->dir, X_OK))
        return err_fail(e, ERR_NOTFOUND, "there is no folder %s", p->dir);
    enum err_code code = open_pipe(errors, e);
    if (!code)
        code = open_pipe(failure, e);
    c->pid = code ? -1 : fork();
    if (c->pid == 0)
        (p->tree ? guard : become)(p, errors[1], failure[1], parent);
    if (!code && c->pid < 0)
        code = err_fail(e, ERR_IO, "cannot start %s: %s", p->argv[0], strerror(errno));
    close(errors[1]);
    close(failure[1]);
    if (!code && read(failure[0], &why, sizeof why) == sizeof why) {
        waitpid(c->pid, NULL, 0);
        code = why == ENOENT
                   ? err_fail(e, ERR_NOTFOUND, "there is no program %s", p->argv[0])
                   : err_fail(e, ERR_IO, "cannot start %s: %s", p->argv[0], strerror(why));
    }
    close(failure[0]);
    c->errors = errors[0];
    if (code)
        close(c->errors);
    else
        fcntl(c->errors, F_SETFL, O_NONBLOCK);
    return code;
}

/* Reports complete lines. */
static void tell(struct child *c, const struct process *p, const char *text, size_t n)
{
    for (size_t i = 0; p->said && i < n; i++) {
        bool ends = text[i] == '\n' || text[i] == '\r';
        if (!ends && c->line_len < LINE)
            c->line[c->line_len++] = text[i];
        if (!ends || !c->line_len)
            continue;
        c->line[c->line_len] = 0;
        p->said(p->arg, c->line);
        c->line_len = 0;
    }
}

/* Keeps the end of its standard error, and returns from time to time if that has none. */
static void take_errors(struct child *c, const struct process *p)
{
    ssize_t got;
    for (int i = 0; i < TURNS && (got = read(c->errors, c->tail + c->n, sizeof c->tail - c->n)) > 0;
         i++) {
        tell(c, p, c->tail + c->n, (size_t)got);
        c->n += (size_t)got;
        if (c->n == sizeof c->tail) {
            memmove(c->tail, c->tail + TAIL, TAIL);
            c->n = TAIL;
        }
    }
}

/* Polls when the program writes. One that has closed standard error is about to end. */
static enum err_code wait_for(int *status, struct child *c, const struct process *p, struct err *e)
{
    uint64_t start_ns = os_monotonic_ns();
    int pause_ms = LOOK_MS;
    for (bool open = true;;) {
        struct pollfd look = {open ? c->errors : -1, POLLIN, 0};
        poll(&look, 1, pause_ms);
        take_errors(c, p);
        if (look.revents & POLLHUP) {
            open = false;
            pause_ms = 0;
        }
        if (waitpid(c->pid, status, WNOHANG) == c->pid)
            return OK;
        if (!open)
            pause_ms = pause_ms < LOOK_MS / 2 ? 2 * pause_ms + 1 : LOOK_MS;
        if (p->cancelled && p->cancelled(p->arg))
            return err_fail(e, ERR_CANCELLED, "interrupted");
        if (p->limit_ms && os_monotonic_ns() - start_ns > p->limit_ms * 1000000)
            return err_fail(e, ERR_LIMIT, "%s took longer than %.3g s", p->argv[0],
                            (double)p->limit_ms / 1000);
    }
}

/* Sends SIGTERM, later SIGKILL; a guard does that itself. */
static void stop(int *status, struct child *c, bool guarded)
{
    enum { STEP_MS = 10 };
    kill(-c->pid, SIGTERM);
    for (int ms = 0; guarded || ms < GUARD_PATIENCE_MS; ms += STEP_MS) {
        if (waitpid(c->pid, status, WNOHANG) == c->pid)
            return;
        poll(NULL, 0, STEP_MS);
    }
    kill(-c->pid, SIGKILL);
    waitpid(c->pid, status, 0);
}

enum err_code process_run(struct process_end *out, struct arena *a, const struct process *p,
                          struct err *e)
{
    struct child c = {0};
    int status = 0;
    enum err_code code = start(&c, p, e);
    if (code)
        return code;
    code = wait_for(&status, &c, p, e);
    if (code)
        stop(&status, &c, p->tree);
    kill(-c.pid, SIGKILL);
    take_errors(&c, p);
    close(c.errors);
    size_t n = c.n < TAIL ? c.n : TAIL;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    out->errors = arena_strndup(a, c.tail + c.n - n, n);
    return code;
}
