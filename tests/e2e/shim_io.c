/* Loaded before the C library (LD_PRELOAD): one read, write or flush of a file below
 * EQLOOM_SHIM_DIR fails with EIO, as a disk fails. EQLOOM_SHIM_KINDS says which calls count ('r',
 * 'w', 's' for flushes; all without it), EQLOOM_SHIM_AT the number of the one that fails (0: none),
 * and the number of calls counted goes into the file EQLOOM_SHIM_COUNT at exit. With
 * EQLOOM_SHIM_KILL that call is the end of the process instead. With EQLOOM_SHIM_SLOW_MS every
 * flush takes so long, with EQLOOM_SHIM_NO_LINKS the file system has no hard links. */
#undef _FILE_OFFSET_BITS /* it would make pread another name of pread64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef fread_unlocked /* glibc inlines it */

static atomic_ulong calls;

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

/* Counts the call; true if it is the one to fail. */
static bool fails(int fd, char kind)
{
    const char *directory = getenv("EQLOOM_SHIM_DIR"), *kinds = getenv("EQLOOM_SHIM_KINDS");
    const char *at = getenv("EQLOOM_SHIM_AT");
    int saved = errno;
    bool counts = directory && (!kinds || strchr(kinds, kind)) && is_below(fd, directory);
    errno = saved;
    if (!counts || atomic_fetch_add(&calls, 1) + 1 != (at ? strtoul(at, NULL, 10) : 0))
        return false;
    if (getenv("EQLOOM_SHIM_KILL"))
        kill(getpid(), SIGKILL);
    errno = EIO;
    return true;
}

static bool flush_fails(int fd)
{
    const char *slow = getenv("EQLOOM_SHIM_SLOW_MS");
    if (slow)
        usleep((useconds_t)strtoul(slow, NULL, 10) * 1000);
    return fails(fd, 's');
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("EQLOOM_SHIM_COUNT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%lu\n", (unsigned long)calls);
    fclose(f);
}

/* The function of the C library that has the name of this one. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t read(int fd, void *data, size_t n)
{
    NEXT(read);
    return fails(fd, 'r') ? -1 : next(fd, data, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
    NEXT(pread);
    return fails(fd, 'r') ? -1 : next(fd, data, n, at);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
    NEXT(pread64);
    return fails(fd, 'r') ? -1 : next(fd, data, n, at);
}

size_t fread_unlocked(void *data, size_t size, size_t n, FILE *f)
{
    NEXT(fread_unlocked);
    return fails(fileno(f), 'r') ? 0 : next(data, size, n, f);
}

ssize_t write(int fd, const void *data, size_t n)
{
    NEXT(write);
    return fails(fd, 'w') ? -1 : next(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    NEXT(pwrite);
    return fails(fd, 'w') ? -1 : next(fd, data, n, at);
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
