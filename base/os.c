/* The operating system; see os.h. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum err_code fail_errno(struct err *e, const char *what, const char *path)
{
    enum err_code code = errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND : ERR_IO;
    return err_fail(e, code, "%s %s: %s", what, path, strerror(errno));
}

static int64_t in_ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

enum err_code os_stat(struct os_stat *out, const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail_errno(e, "cannot look at", path);
    int64_t mtime = in_ns(st.st_mtim), ctime = in_ns(st.st_ctim);
    *out = (struct os_stat){
        .size = (uint64_t)st.st_size,
        .inode = (uint64_t)st.st_ino,
        .changed_ns = mtime > ctime ? mtime : ctime,
        .is_dir = S_ISDIR(st.st_mode),
    };
    return OK;
}

enum err_code os_read_file(struct span *out, struct arena *a, const char *path, size_t limit,
                           struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(e, "cannot open", path);
    enum err_code code = OK;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        code = fail_errno(e, "cannot look at", path);
        goto out;
    }
    if (S_ISDIR(st.st_mode)) {
        code = err_fail(e, ERR_INPUT, "%s is a directory", path);
        goto out;
    }
    /* Pipes and /proc have no size: read until the end, growing. */
    size_t cap = st.st_size > 0 ? (size_t)st.st_size : 4096, n = 0;
    if (cap > limit)
        cap = limit;
    char *data = arena_try_alloc(a, cap + 1, 1);
    for (;;) {
        if (!data) {
            code = err_fail(e, ERR_NOMEM, "cannot read %s: out of memory", path);
            goto out;
        }
        if (n == cap) {
            char more;
            ssize_t r = read(fd, &more, 1);
            if (r < 0 && errno == EINTR)
                continue;
            if (r < 0) {
                code = fail_errno(e, "cannot read", path);
                goto out;
            }
            if (r == 0)
                break;
            if (n >= limit) {
                code = err_fail(e, ERR_LIMIT, "%s is larger than %zu bytes", path, limit);
                goto out;
            }
            size_t grown = cap * 2 < limit ? cap * 2 : limit;
            char *moved = arena_try_alloc(a, grown + 1, 1);
            if (moved) {
                memcpy(moved, data, n);
                moved[n++] = more;
            }
            data = moved;
            cap = grown;
            continue;
        }
        ssize_t r = read(fd, data + n, cap - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0) {
            code = fail_errno(e, "cannot read", path);
            goto out;
        }
        if (r == 0)
            break;
        n += (size_t)r;
    }
    data[n] = 0;
    *out = span_of(data, n);
out:
    close(fd);
    return code;
}

enum err_code os_write_file(const char *path, const void *data, size_t n, struct err *e)
{
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s.tmp-%ld", path, (long)getpid()) >=
        (int)sizeof temporary)
        return err_fail(e, ERR_INPUT, "path too long: %s", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_errno(e, "cannot create", temporary);
    const char *p = data;
    size_t left = n;
    while (left) {
        ssize_t w = write(fd, p, left);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0) {
            enum err_code code = fail_errno(e, "cannot write", temporary);
            close(fd);
            unlink(temporary);
            return code;
        }
        p += w;
        left -= (size_t)w;
    }
    if (close(fd) != 0 || rename(temporary, path) != 0) {
        enum err_code code = fail_errno(e, "cannot write", path);
        unlink(temporary);
        return code;
    }
    return OK;
}

enum err_code os_mkdirs(const char *path, struct err *e)
{
    char p[PATH_MAX];
    if (snprintf(p, sizeof p, "%s", path) >= (int)sizeof p)
        return err_fail(e, ERR_INPUT, "path too long: %s", path);
    for (char *slash = p + 1; *p; slash++) {
        char c = *slash;
        if (c != '/' && c != 0)
            continue;
        *slash = 0;
        if (mkdir(p, 0777) != 0 && errno != EEXIST)
            return fail_errno(e, "cannot make the directory", p);
        *slash = c;
        if (!c)
            break;
    }
    struct os_stat st;
    enum err_code code = os_stat(&st, path, e);
    if (code == OK && !st.is_dir)
        return err_fail(e, ERR_IO, "%s is not a directory", path);
    return err_up(e, code);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum err_code os_glob(char ***paths, size_t *n, struct arena *a, const char *pattern, struct err *e)
{
    glob_t g;
    int r = glob(pattern, GLOB_NOSORT | GLOB_ERR, NULL, &g);
    *paths = NULL;
    *n = 0;
    if (r == GLOB_NOMATCH)
        return OK;
    if (r != 0) {
        if (r != GLOB_ABORTED)
            errno = ENOMEM;
        return fail_errno(e, "cannot list", pattern);
    }
    char **out = arena_array(a, char *, g.gl_pathc);
    for (size_t i = 0; i < g.gl_pathc; i++)
        out[i] = arena_strdup(a, g.gl_pathv[i]);
    qsort(out, g.gl_pathc, sizeof *out, compare_paths);
    *paths = out;
    *n = g.gl_pathc;
    globfree(&g);
    return OK;
}

enum err_code os_realpath(char **out, struct arena *a, const char *path, struct err *e)
{
    char *p = realpath(path, NULL);
    if (!p)
        return fail_errno(e, "cannot find", path);
    *out = arena_strdup(a, p);
    free(p);
    return OK;
}

char *os_join(struct arena *a, const char *dir, const char *name)
{
    if (name[0] == '/' || !dir[0] || strcmp(dir, ".") == 0)
        return arena_strdup(a, name);
    size_t n = strlen(dir);
    return arena_printf(a, dir[n - 1] == '/' ? "%s%s" : "%s/%s", dir, name);
}

char *os_dirname(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_strdup(a, ".");
    return slash == path ? arena_strdup(a, "/") : arena_strndup(a, path, (size_t)(slash - path));
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t os_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t os_thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t os_process_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t os_wall_ns(void)
{
    return (int64_t)clock_ns(CLOCK_REALTIME);
}

unsigned os_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int n = CPU_COUNT(&set);
        if (n > 0)
            return (unsigned)n;
    }
    return 1;
}

void os_few_heaps(void)
{
    mallopt(M_ARENA_MAX, (int)os_cpus());
}

uint64_t os_peak_rss(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024 : 0;
}

bool os_is_terminal(int fd)
{
    return isatty(fd) == 1;
}

int os_terminal_width(int fd)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}
