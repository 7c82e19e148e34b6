/* See scratch.h. The lock is flock's, on the folder itself. Between its creation and its locking a
 * folder looks like one that was left; then somebody may remove it, and another one is made. */
#include "base/process/scratch.h"

#include "base/arena.h"
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens and locks a folder of ours; returns -1 if it is none, in use, or gone meanwhile. Where the
 * file system has no locks, `without` decides. */
static int lock_folder(const char *path, bool without)
{
    struct stat st, there;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        (flock(fd, LOCK_EX | LOCK_NB) == 0 || (without && errno != EWOULDBLOCK)) &&
        lstat(path, &there) == 0 && st.st_dev == there.st_dev && st.st_ino == there.st_ino)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Removes the folders with this prefix that are locked by nobody. */
static void clear_left(const char *tmp, const char *prefix)
{
    struct arena a = {0};
    DIR *d = opendir(tmp);
    for (struct dirent *x; d && (x = readdir(d));) {
        const char *path = arena_printf(&a, "%s/%s", tmp, x->d_name);
        int lock = strncmp(x->d_name, prefix, strlen(prefix)) ? -1 : lock_folder(path, false);
        if (lock >= 0) {
            os_remove_tree(path);
            close(lock);
        }
        arena_reset(&a);
    }
    if (d)
        closedir(d);
    arena_free(&a);
}

enum err_code scratch_open(struct scratch *out, const char *kind, struct err *e)
{
    struct arena a = {0};
    const char *named = getenv("TMPDIR"), *prefix = arena_printf(&a, "eqloom-%s-", kind);
    char *tmp = NULL, *path = NULL;
    *out = (struct scratch){.lock = -1};
    if (!named || !*named)
        named = "/tmp";
    enum err_code code = os_realpath(&tmp, &a, named, NULL);
    if (code)
        code = err_fail(e, ERR_IO, "there is no folder %s for temporary files (TMPDIR)", named);
    else
        clear_left(tmp, prefix);
    while (!code && out->lock < 0) {
        path = arena_printf(&a, "%s/%sXXXXXX", tmp, prefix);
        if (mkdtemp(path))
            out->lock = lock_folder(path, true);
        else
            code = err_fail(e, ERR_IO, "cannot make a folder in %s (TMPDIR): %s", tmp,
                            strerror(errno));
    }
    if (!code)
        out->path = strdup(path);
    arena_free(&a);
    return code;
}

void scratch_close(struct scratch *s)
{
    if (!s->path)
        return;
    os_remove_tree(s->path);
    close(s->lock);
    free(s->path);
    *s = (struct scratch){0};
}
