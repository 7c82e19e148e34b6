/* Loaded before the C library (LD_PRELOAD): one read, write or flush of a file below
 * EQLOOM_SHIM_DIR fails with EIO, as a disk fails. EQLOOM_SHIM_KINDS says which calls count ('r',
 * 'w', 's' for flushes; all without it), EQLOOM_SHIM_AT the number of the one that fails (0: none),
 * and the number of calls counted goes into the file EQLOOM_SHIM_COUNT at exit. With
 * EQLOOM_SHIM_KILL that call is the end of the process instead. With EQLOOM_SHIM_SLOW_MS every
 * flush takes so long, with EQLOOM_SHIM_OPEN_MS every opening of such a file, with EQLOOM_SHIM_NO_LINKS the file system has no hard links. With
 * EQLOOM_SHIM_STALL=PATH that call, or an opening ('o'), makes the file PATH and waits until it is
 * removed. */
#undef _FILE_OFFSET_BITS /* it would make pread another name of pread64 */
#include "tests/e2e/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#undef fread_unlocked /* glibc inlines it */

static bool is_below(int fd, const char *directory)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return false;
    path[n] = 0;
    return strncmp(path, directory, strlen(directory)) == 0;
}

static bool stall(const char *path)
{
    int fd = creat(path, 0666);
    close(fd);
    while (access(path, F_OK) == 0)
        usleep(1000);
    return false;
}

/* Counts the call; true if it is the one to fail. */
static bool fails(int fd, const char *path, char kind)
{
    const char *directory = getenv("EQLOOM_SHIM_DIR"), *kinds = getenv("EQLOOM_SHIM_KINDS");
    int saved = errno;
    bool counts =
        directory && (!kinds || strchr(kinds, kind)) &&
        (path ? strncmp(path, directory, strlen(directory)) == 0 : is_below(fd, directory));
    errno = saved;
    if (!counts || (long long)atomic_fetch_add(&calls, 1) + 1 != number("EQLOOM_SHIM_AT"))
        return false;
    if (getenv("EQLOOM_SHIM_KILL"))
        kill(getpid(), SIGKILL);
    if (getenv("EQLOOM_SHIM_STALL"))
        return stall(getenv("EQLOOM_SHIM_STALL"));
    errno = EIO;
    return true;
}

static bool open_fails(const char *path)
{
    const char *directory = getenv("EQLOOM_SHIM_DIR");
    if (directory && strncmp(path, directory, strlen(directory)) == 0)
        usleep((useconds_t)number("EQLOOM_SHIM_OPEN_MS") * 1000);
    return fails(-1, path, 'o');
}

static bool flush_fails(int fd)
{
    usleep((useconds_t)number("EQLOOM_SHIM_SLOW_MS") * 1000);
    return fails(fd, NULL, 's');
}

/* The function of the C library that has the name of this one. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t read(int fd, void *data, size_t n)
{
    NEXT(read);
    return fails(fd, NULL, 'r') ? -1 : next(fd, data, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
    NEXT(pread);
    return fails(fd, NULL, 'r') ? -1 : next(fd, data, n, at);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
    NEXT(pread64);
    return fails(fd, NULL, 'r') ? -1 : next(fd, data, n, at);
}

size_t fread_unlocked(void *data, size_t size, size_t n, FILE *f)
{
    NEXT(fread_unlocked);
    return fails(fileno(f), NULL, 'r') ? 0 : next(data, size, n, f);
}

ssize_t write(int fd, const void *data, size_t n)
{
    NEXT(write);
    return fails(fd, NULL, 'w') ? -1 : next(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    NEXT(pwrite);
    return fails(fd, NULL, 'w') ? -1 : next(fd, data, n, at);
}

int open(const char *path, int flags, ...)
{
    NEXT(open);
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    return open_fails(path) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    NEXT(open64);
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    return open_fails(path) ? -1 : next(path, flags, mode);
}

int fsync(int fd)
{
    NEXT(fsync);
    return flush_fails(fd) ? -1 : next(fd);
}

int fdatasync(int fd)
{
    NEXT(fdatasync);
    return flush_fails(fd) ? -1 : next(fd);
}

int link(const char *name, const char *new)
{
    NEXT(link);
    if (!getenv("EQLOOM_SHIM_NO_LINKS"))
        return next(name, new);
    errno = EPERM;
    return -1;
}

int linkat(int from, const char *name, int to, const char *new, int flags)
{
    NEXT(linkat);
    if (!getenv("EQLOOM_SHIM_NO_LINKS"))
        return next(from, name, to, new, flags);
    errno = EPERM;
    return -1;
}
