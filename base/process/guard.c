/* See guard.h. The tree is killed generation by generation: the kernel hands the children of a dead
 * process to the guard before the guard learns of the death. */
#include "base/process/guard.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARD_NAME "eqloom-guard"

static bool by_exec;

bool guard_prepare(pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* they are waited for; a mask outlasts execve */
    signal(SIGCHLD, SIG_DFL);
    setpgid(0, 0);
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 &&
           getppid() == parent;
}

/* ---- watching ---- */

struct watch {
    pid_t program;
    int status;
    bool ended; /* the program */
    bool alone; /* there is no child left */
};

static void reap(struct watch *w, int flags)
{
    int status;
    pid_t got;
    while ((got = waitpid(-1, &status, flags)) > 0) {
        flags |= WNOHANG;
        if (got == w->program) {
            w->status = status;
            w->ended = true;
        }
    }
    w->alone = got < 0 && errno == ECHILD;
}

/* Waits for a child's end or SIGTERM; returns the signal, or -1 after that time (ms < 0: never). */
static int wait_signal(int64_t ms)
{
    sigset_t set;
    struct timespec limit = {ms / 1000, ms % 1000 * 1000000};
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    return ms < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &limit);
}

/* Sends a signal to each child but one (0: to all). Returns false if the kernel does not list
 * them. */
static bool signal_children(int number, pid_t but)
{
    char text[4096];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    pid_t pid = 0;
    if (fd < 0)
        return false;
    for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            if (text[i] >= '0' && text[i] <= '9') {
                pid = 10 * pid + (text[i] - '0');
            } else if (pid) {
                if (pid != but)
                    kill(pid, number);
                pid = 0;
            }
    close(fd);
    return true;
}

static void ask_all(struct watch *w)
{
    if (kill(-w->program, SIGTERM))
        kill(w->program, SIGTERM);
    signal_children(SIGTERM, w->program);
    int64_t end = (int64_t)(os_monotonic_ns() / 1000000) + GUARD_PATIENCE_MS, left;
    while (!w->alone && (left = end - (int64_t)(os_monotonic_ns() / 1000000)) > 0) {
        wait_signal(left);
        reap(w, WNOHANG);
    }
}

static void kill_all(struct watch *w)
{
    kill(-w->program, SIGKILL);
    while (!w->alone && signal_children(SIGKILL, 0))
        reap(w, 0);
    if (!w->ended)
        waitpid(w->program, &w->status, 0);
}

static _Noreturn void watch(pid_t program)
{
    struct watch w = {.program = program};
    bool asked = false;
    for (reap(&w, WNOHANG); !w.ended && !asked; reap(&w, WNOHANG))
        asked = wait_signal(-1) == SIGTERM;
    if (!w.ended)
        ask_all(&w);
    kill_all(&w);
    _exit(WIFEXITED(w.status) ? WEXITSTATUS(w.status) : 128 + WTERMSIG(w.status));
}

/* ---- in a program of its own ---- */

_Noreturn void guard_watch(pid_t program)
{
    char text[12], *at = text + sizeof text - 1;
    *at = 0;
    for (pid_t rest = program; rest; rest /= 10)
        *--at = (char)('0' + rest % 10);
    if (by_exec)
        execv("/proc/self/exe", (char *const[]){GUARD_NAME, at, NULL});
    watch(program);
}

void guard_main(int argc, char **argv)
{
    by_exec = true;
    if (argc == 2 && strcmp(argv[0], GUARD_NAME) == 0)
        watch(atoi(argv[1]));
}
