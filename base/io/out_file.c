/* See out_file.h. The folder is held open, so that nobody can exchange it on the way. */
#include "base/io/out_file.h"

#include "base/io/in_file.h"
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static enum err_code fail_write(const char *path, struct err *e)
{
    return err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

enum { NAME_KEPT = 200 };

/* Opens the temporary file. Its name is cut to leave room for the suffix within NAME_MAX. */
static enum err_code open_beside(struct out_file *out, struct arena *a, struct err *e)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return fail_write(out->path, e);
    out->beside = arena_printf(a, "%.*s.%016" PRIx64 ".tmp", NAME_KEPT, out->name, random);
    int fd =
        openat(out->folder, out->beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    out->f = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    return out->f ? OK : fail_write(out->path, e);
}

/* ---- what killed processes left ---- */

enum { DEAD_S = 24 * 3600, RANDOM_DIGITS = 16 };

/* "...ENDING.0123456789abcdef.tmp" */
static bool is_temporary(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strnlen(ending, NAME_KEPT), tail = RANDOM_DIGITS + 5;
    if (n < m + tail || strcmp(name + n - 4, ".tmp") != 0)
        return false;
    const char *random = name + n - tail;
    return *random == '.' && strspn(random + 1, "0123456789abcdef") == RANDOM_DIGITS &&
           !memcmp(random - m, ending, m);
}

/* Removes temporary files that nobody has written to for a day, by the clock of the file system,
 * which has just stamped ours: other machines may be writing there. */
static void remove_dead(struct out_file *out, const char *ending)
{
    struct stat own, st;
    int fd = openat(out->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d && fd >= 0)
        close(fd);
    if (d && !fstat(fileno(out->f), &own))
        for (struct dirent *entry; (entry = readdir(d));)
            if (is_temporary(entry->d_name, ending) &&
                !fstatat(out->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
                S_ISREG(st.st_mode) && st.st_mtime + DEAD_S < own.st_mtime)
                unlinkat(out->folder, entry->d_name, 0);
    if (d)
        closedir(d);
}

/* Opens a pipe or a device, and waits for no reader. */
static enum err_code open_in_place(struct out_file *out, int follow, struct err *e)
{
    int fd = openat(out->folder, out->name,
                    O_WRONLY | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | follow);
    if (fd < 0 && errno == ENXIO)
        return err_fail(e, ERR_IO, "cannot write %s: nobody reads this pipe", out->path);
    out->f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!out->f)
        return fail_write(out->path, e);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return OK;
}

/* /dev, /dev/fd, /proc/self/fd: nobody else can put a link there. */
static bool is_of_system(int folder)
{
    struct statfs fs;
    struct stat st, dev;
    return (fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC) ||
           (fstat(folder, &st) == 0 && stat("/dev", &dev) == 0 && st.st_dev == dev.st_dev &&
            st.st_ino == dev.st_ino);
}

static enum err_code open_named(struct out_file *out, struct arena *a, struct err *e)
{
    struct stat st;
    bool there = fstatat(out->folder, out->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there || S_ISREG(st.st_mode)) {
        enum err_code code = open_beside(out, a, e);
        if (!code)
            remove_dead(out, out->name);
        return err_up(e, code);
    }
    if (!S_ISLNK(st.st_mode))
        return err_up(e, open_in_place(out, O_NOFOLLOW, e));
    if (is_of_system(out->folder))
        return err_up(e, open_in_place(out, 0, e));
    return err_fail(e, ERR_INPUT, "cannot write %s: it is a link; name the file itself", out->path);
}

static enum err_code opened(struct out_file *out, enum err_code code, struct err *e)
{
    if (code)
        close(out->folder);
    return err_up(e, code);
}

enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    *out = (struct out_file){.path = arena_strdup(a, path)};
    out->name = slash ? out->path + (slash - path) + 1 : out->path;
    out->folder = open(os_dirname(a, path), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->folder < 0)
        return fail_write(path, e);
    return opened(out, open_named(out, a, e), e);
}

enum err_code out_file_replace(struct out_file *out, struct arena *a, int folder, const char *name,
                               const char *path, const char *ending, struct err *e)
{
    *out = (struct out_file){.path = arena_strdup(a, path), .name = arena_strdup(a, name)};
    out->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (out->folder < 0)
        return fail_write(path, e);
    enum err_code code = open_beside(out, a, e);
    if (!code)
        remove_dead(out, ending);
    return opened(out, code, e);
}

bool out_file_is_same(struct out_file *x)
{
    char p[65536], q[sizeof p];
    FILE *there;
    size_t n = 1;
    if (!x->beside || fflush(x->f) || fseeko(x->f, 0, SEEK_SET) ||
        in_file_open(&there, x->folder, x->name, x->path, NULL))
        return false;
    bool same = true;
    while (same && n > 0) {
        n = fread(p, 1, sizeof p, x->f);
        same = fread(q, 1, sizeof q, there) == n && !memcmp(p, q, n);
    }
    same = same && !ferror(x->f) && !ferror(there);
    fclose(there);
    return same;
}

enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e)
{
    if (!x->f)
        return err_up(e, code);
    bool good = !ferror(x->f) && !fflush(x->f);
    good = !fclose(x->f) && good;
    x->f = NULL;
    if (!code && (!good || (x->beside && renameat(x->folder, x->beside, x->folder, x->name))))
        code = fail_write(x->path, e);
    if (code && x->beside)
        unlinkat(x->folder, x->beside, 0);
    close(x->folder);
    return err_up(e, code);
}

enum err_code out_file_write(const char *path, const void *data, size_t n, struct err *e)
{
    struct arena a = {0};
    struct out_file x;
    enum err_code code = out_file_open(&x, &a, path, e);
    if (!code && fwrite(data, 1, n, x.f) != n)
        code = fail_write(path, e);
    code = out_file_close(&x, code, e);
    arena_free(&a);
    return err_up(e, code);
}
