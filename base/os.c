/* Operating system services; see os.h. */
#include "base/os.h"

#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum err_code fail_errno(struct err *e, const char *what, const char *path)
{
    enum err_code code = errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND : ERR_IO;
    /* A very long path leaves room for the reason. */
    return err_fail(e, code, "%s %.300s%s: %s", what, path, strlen(path) > 300 ? "..." : "",
                    strerror(errno));
}

static int64_t in_ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

enum err_code os_stat(struct os_stat *out, const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail_errno(e, "cannot stat", path);
    *out = (struct os_stat){
        .size = (uint64_t)st.st_size,
        .inode = (uint64_t)st.st_ino,
        .modified_ns = in_ns(st.st_mtim),
        .changed_ns = in_ns(st.st_ctim),
        .is_dir = S_ISDIR(st.st_mode),
        .is_mine = st.st_uid == geteuid(),
    };
    return OK;
}

/* "a FIFO", if reading it could wait for ever or has no end; NULL for files and folders. */
static const char *special_kind(mode_t mode)
{
    return S_ISFIFO(mode)   ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a device"
           : S_ISBLK(mode)  ? "a device"
                            : NULL;
}

/* Whether the path names a descriptor that this process was given: '<(command)' of a shell. */
static bool is_descriptor(const char *path)
{
    return !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/self/fd/", 14) ||
           !strcmp(path, "/dev/stdin");
}

/* Nothing is opened that is no file: that may wait for ever, or do something. The second look is for
 * what has taken the file's place. */
static enum err_code open_file(int *fd, const char *path, struct err *e)
{
    struct stat st;
    const char *kind = NULL;
    *fd = -1;
    if (stat(path, &st) != 0)
        return fail_errno(e, "cannot open", path);
    if (is_descriptor(path) && S_ISFIFO(st.st_mode)) {
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    } else if (!(kind = special_kind(st.st_mode))) {
        *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        kind = *fd >= 0 && !fstat(*fd, &st) ? special_kind(st.st_mode) : NULL;
    }
    if (*fd < 0 && !kind)
        return fail_errno(e, "cannot open", path);
    if (kind || S_ISDIR(st.st_mode)) {
        if (*fd >= 0)
            close(*fd);
        return err_fail(e, ERR_INPUT, "%s is %s", path, kind ? kind : "a directory");
    }
    return OK;
}

enum err_code os_read_stream(struct span *out, struct arena *a, int fd, const char *name,
                             size_t limit, struct err *e)
{
    struct stat st = {0};
    fstat(fd, &st);
    /* Pipes and /proc report no size: read to the end, growing the buffer. One byte more than the
     * expected size detects the end. */
    size_t cap = (st.st_size > 0 ? (size_t)st.st_size : 4096) + 1, n = 0;
    if (cap > limit)
        cap = limit + 1;
    char *data = arena_try_alloc(a, cap + 1, 1);
    for (ssize_t r = 1; data && r != 0;) {
        r = read(fd, data + n, cap - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return fail_errno(e, "cannot read", name);
        n += (size_t)r;
        if (n > limit)
            return err_fail(e, ERR_LIMIT, "%s is larger than %zu bytes", name, limit);
        if (n == cap) {
            cap = cap * 2 < limit ? cap * 2 : limit + 1;
            char *grown = arena_try_alloc(a, cap + 1, 1);
            data = grown ? memcpy(grown, data, n) : NULL;
        }
    }
    if (!data)
        return err_fail(e, ERR_NOMEM, "cannot read %s: out of memory", name);
    data[n] = 0;
    *out = span_of(data, n);
    return OK;
}

enum err_code os_read_file(struct span *out, struct arena *a, const char *path, size_t limit,
                           struct err *e)
{
    int fd;
    enum err_code code = open_file(&fd, path, e);
    if (code)
        return err_up(e, code);
    code = os_read_stream(out, a, fd, path, limit, e);
    close(fd);
    return err_up(e, code);
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

enum err_code os_list_tree(char ***paths, size_t *n, struct arena *a, const char *folder,
                           struct err *e)
{
    char *const roots[] = {(char *)folder, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    char **found = NULL;
    size_t cap = 0;
    enum err_code code = OK;
    *n = 0;
    if (!tree)
        return fail_errno(e, "cannot list", folder);
    errno = 0;
    for (FTSENT *x; !code && (x = fts_read(tree)); errno = 0) {
        if (x->fts_level > 0 && x->fts_name[0] == '.') {
            fts_set(tree, x, FTS_SKIP);
        } else if (x->fts_info == FTS_DNR || x->fts_info == FTS_ERR || x->fts_info == FTS_NS) {
            errno = x->fts_errno;
            code = fail_errno(e, "cannot read", x->fts_path);
        } else if (x->fts_level == 0 && x->fts_info != FTS_D && x->fts_info != FTS_DP) {
            code = err_fail(e, ERR_IO, "%s is not a folder", folder);
        } else if (x->fts_info != FTS_D && x->fts_info != FTS_DP) {
            found = vec_grow(found, &cap, *n + 1, sizeof *found);
            found[(*n)++] = arena_strdup(a, x->fts_path);
        }
    }
    if (!code && errno)
        code = fail_errno(e, "cannot list", folder);
    fts_close(tree);
    if (*n)
        qsort(found, *n, sizeof *found, text_compare);
    *paths = arena_memdup(a, found, *n * sizeof *found);
    free(found);
    return code;
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

/* Returns whether it is a folder that we may change; takes the right to if we own it. */
static bool claim_folder(int in, const char *name)
{
    struct stat st;
    if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
        return false;
    return (st.st_mode & 0700) == 0700 || fchmodat(in, name, 0700, 0) == 0;
}

static DIR *open_to_empty(int in, const char *name)
{
    int fd = claim_folder(in, name)
                 ? openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static bool removed(int in, const char *name)
{
    return unlinkat(in, name, 0) == 0 || unlinkat(in, name, AT_REMOVEDIR) == 0;
}

static struct dirent *next_entry(DIR *d)
{
    struct dirent *x;
    while ((x = readdir(d)) && (!strcmp(x->d_name, ".") || !strcmp(x->d_name, "..")))
        continue;
    return x;
}

/* Moves a folder to a free name in `top`, so that a tree of any depth takes two descriptors and no
 * long path. */
static bool move_up(int top, unsigned *moved, int in, const char *name)
{
    char fresh[32];
    while (claim_folder(in, name)) {
        snprintf(fresh, sizeof fresh, "%u", ++*moved);
        if (renameat(in, name, top, fresh) == 0)
            return true;
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
            break;
    }
    return false;
}

/* Removes what is in `top`, pass by pass until a pass achieves nothing. */
static void empty_folder(DIR *top)
{
    unsigned moved = 0;
    for (bool any = true; any; rewinddir(top)) {
        any = false;
        for (struct dirent *x; (x = next_entry(top));) {
            DIR *d = open_to_empty(dirfd(top), x->d_name);
            for (struct dirent *y; d && (y = next_entry(d));)
                any |= removed(dirfd(d), y->d_name) ||
                       move_up(dirfd(top), &moved, dirfd(d), y->d_name);
            if (d)
                closedir(d);
            any |= removed(dirfd(top), x->d_name);
        }
    }
}

void os_remove_tree(const char *path)
{
    DIR *d = open_to_empty(AT_FDCWD, path);
    if (d) {
        empty_folder(d);
        closedir(d);
    }
    removed(AT_FDCWD, path);
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

void os_hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            abort();
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
