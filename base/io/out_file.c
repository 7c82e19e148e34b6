/* Files written beside their targets; see out_file.h. The temporary name cannot be guessed and must
 * not exist. */
#include "base/io/out_file.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err_code fail_write(const char *path, struct err *e)
{
    return err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e)
{
    struct stat st;
    uint64_t random = 0;
    int fd;
    *out = (struct out_file){.path = arena_strdup(a, path)};
    bool there = stat(path, &st) == 0;
    if (!there && lstat(path, &st) == 0)
        return err_fail(e, ERR_IO, "cannot write %s: it is a dangling link", path);
    if (there && !S_ISREG(st.st_mode)) {
        fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    } else {
        enum err_code code = there ? err_up(e, os_realpath(&out->path, a, path, e)) : OK;
        if (code)
            return code;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return fail_write(path, e);
        out->beside = arena_printf(a, "%s.%016" PRIx64 ".tmp", out->path, random);
        fd = open(out->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    out->f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    return out->f ? OK : fail_write(path, e);
}

enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e)
{
    if (!x->f)
        return err_up(e, code);
    bool good = !ferror(x->f) && !fflush(x->f);
    good = !fclose(x->f) && good;
    x->f = NULL;
    if (!code && (!good || (x->beside && rename(x->beside, x->path))))
        code = fail_write(x->path, e);
    if (code && x->beside)
        unlink(x->beside);
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
