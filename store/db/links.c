/* A second directory with the files of a database: hard links, or copies if the file system has no
 * links. */
#include "store/db/rocks_internal.h"

#include "base/arena.h"
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum err_code copy_file(const char *to, int directory, const char *name, struct err *e)
{
    enum { PART = 1 << 20 };
    int in = openat(directory, name, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    char *part = malloc(PART);
    ssize_t n = out < 0 || !part ? -1 : 1;
    while (n > 0 && (n = read(in, part, PART)) > 0)
        for (ssize_t done = 0, wrote; done < n; done += wrote)
            if ((wrote = write(out, part + done, (size_t)(n - done))) <= 0) {
                n = -1;
                break;
            }
    if (n == 0 && fsync(out) != 0)
        n = -1;
    enum err_code code =
        n < 0 ? err_fail(e, ERR_IO, "cannot copy %s to %s: %s", name, to, strerror(errno)) : OK;
    free(part);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && code == OK)
        code = err_fail(e, ERR_IO, "cannot write %s: %s", to, strerror(errno));
    return code;
}

/* Errors of a file system that has no hard links or forbids this one. */
static bool is_refusal(int error)
{
    return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EXDEV ||
           error == EMLINK || error == EACCES;
}

/* Excludes RocksDB's lock and info log, which belong to the process that has it open. */
static bool is_of_database(const char *name)
{
    return *name != '.' && strncmp(name, "LO", 2) != 0;
}

enum err_code links_add(const char *to, const char *db_path, const char *name, struct err *e)
{
    enum err_code code = OK;
    int directory = open(db_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || linkat(directory, name, AT_FDCWD, to, 0) != 0)
        code = directory >= 0 && is_refusal(errno)
                   ? err_up(e, copy_file(to, directory, name, e))
                   : err_fail(e, ERR_IO, "cannot link %s: %s", to, strerror(errno));
    if (directory >= 0)
        close(directory);
    return code;
}

enum err_code links_restore(const char *to, const char *db_path, const char *name, struct span tail,
                         struct err *e)
{
    int directory = open(db_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err_code code = copy_file(to, directory, name, e);
    int fd = code == OK ? open(to, O_WRONLY | O_CLOEXEC) : -1;
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    if (code == OK && (fd < 0 || pwrite(fd, tail.data, tail.len, end - (off_t)tail.len) !=
                                     (ssize_t)tail.len))
        code = err_fail(e, ERR_IO, "cannot write %s: %s", to, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (directory >= 0)
        close(directory);
    return err_up(e, code);
}

enum err_code links_make(const char *to, const char *db_path, links_filter *wanted, void *arg,
                         struct err *e)
{
    struct arena a = {0};
    enum err_code code = err_up(e, os_mkdirs(to, e));
    DIR *d = code == OK ? opendir(db_path) : NULL;
    if (!d && code == OK)
        code = err_fail(e, ERR_IO, "cannot read %s: %s", db_path, strerror(errno));
    for (struct dirent *entry; d && code == OK && (entry = readdir(d));) {
        const char *name = entry->d_name;
        if (is_of_database(name) && (!wanted || wanted(arg, name)))
            code = links_add(arena_printf(&a, "%s/%s", to, name), db_path, name, e);
    }
    if (d)
        closedir(d);
    arena_free(&a);
    return err_up(e, code);
}

bool links_are_refused(const char *db_path)
{
    struct arena a = {0};
    const char *from = arena_printf(&a, "%s/CURRENT", db_path);
    const char *to = arena_printf(&a, "%s/CURRENT.link", db_path);
    unlink(to);
    bool refused = linkat(AT_FDCWD, from, AT_FDCWD, to, 0) != 0 && is_refusal(errno);
    unlink(to);
    arena_free(&a);
    return refused;
}
