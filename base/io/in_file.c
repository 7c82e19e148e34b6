#include "base/io/in_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum err_code in_file_open(FILE **out, int folder, const char *name, const char *path,
                           struct err *e)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool plain = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    *out = plain ? fdopen(fd, "rb") : NULL;
    if (*out)
        return OK;
    if (fd < 0 && errno == ENOENT)
        return err_fail(e, ERR_NOTFOUND, "there is no file %s", path);
    if (fd < 0 && errno != ELOOP && errno != ENXIO)
        return err_fail(e, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return err_fail(e, ERR_INPUT, "%s is not a plain file", path);
}
