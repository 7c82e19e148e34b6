/* The writer's lock; see lock.h.
 *
 * flock(2): the kernel drops it when the holder dies, however it dies, so a lock file that is lying
 * about means nothing. The file's content (pid, command, since when, one a line) is only for
 * messages and may be stale or missing. */
#include "store/lock.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* PATIENCE_MS: how long a lock may be held by a reader, or by a writer that has not written its
 * name, before that is an error. */
enum { POLL_MS = 50, GLANCE_MS = 5, PATIENCE_MS = 10000 };

static enum err_code fail_busy(int fd, const char *path, struct err *e)
{
    char text[512];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    char *save = NULL;
    const char *pid = strtok_r(text, "\n", &save);
    const char *command = strtok_r(NULL, "\n", &save);
    const char *since = strtok_r(NULL, "\n", &save);
    if (!since)
        return err_fail(e, ERR_BUSY, "the store is held by another process (%s)", path);
    return err_fail(e, ERR_BUSY, "the store is held by pid %s (%s) since %s", pid, command, since);
}

/* lock_is_held takes the lock, shared, for a moment, which may be long on a busy machine. So does
 * this function in another process. */
static bool is_shared(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return false;
    flock(fd, LOCK_UN);
    return true;
}

/* A new holder has yet to write its name. Until then the file may name a writer that was killed. */
static bool is_holder_named(int fd)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    long pid = strtol(text, NULL, 10);
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static void describe_holder(int fd, const char *command)
{
    char text[512], since[32], one_line[300];
    time_t now = time(NULL);
    struct tm tm;
    strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    snprintf(one_line, sizeof one_line, "%s", command && *command ? command : "eqloom");
    for (char *p = one_line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    int n = snprintf(text, sizeof text, "%ld\n%s\n%s\n", (long)getpid(), one_line, since);
    /* A description that cannot be written is no reason to refuse the lock. */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return;
}

enum err_code lock_acquire(int *out, const char *path, const char *command, double wait_s,
                           struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_fail(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    uint64_t start = os_monotonic_ns();
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        double waited_s = (double)(os_monotonic_ns() - start) * 1e-9;
        enum err_code code = OK;
        if (errno != EWOULDBLOCK)
            code = err_fail(e, ERR_IO, "cannot lock %s: %s", path, strerror(errno));
        else if (wait_s >= 0 && waited_s >= wait_s &&
                 ((waited_s - wait_s) * 1e3 >= PATIENCE_MS ||
                  (!is_shared(fd) && is_holder_named(fd))))
            code = fail_busy(fd, path, e);
        if (code != OK) {
            close(fd);
            return code;
        }
        long pause_ms = wait_s >= 0 && waited_s >= wait_s ? GLANCE_MS : POLL_MS;
        nanosleep(&(struct timespec){0, pause_ms * 1000000L}, NULL);
    }
    describe_holder(fd, command);
    *out = fd;
    return OK;
}

bool lock_is_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

void lock_release(int fd)
{
    if (fd < 0)
        return;
    if (ftruncate(fd, 0) != 0) {
        /* Stale words in an unlocked file harm nobody. */
    }
    close(fd);
}
