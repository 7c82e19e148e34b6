/* The transport for a folder that several machines, and users, share. What others put there is not
 * trusted: no link below the shared folder is followed, and nothing but a plain file is read or
 * left under a pack's name. */
#include "engine/remote/transport.h"

#include "base/io/in_file.h"
#include "base/io/out_file.h"
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART = 1 << 16 };

/* Opens the folder of a name "FOLDER/NAME", or the folder of that name. ERR_NOTFOUND, without a
 * message, if it is not there. */
static enum err_code open_folder(int *out, const char **path, struct arena *a, struct transport *t,
                                 const char *name, bool make, struct err *e)
{
    size_t n = strcspn(name, "/");
    *path = os_join(a, t->state, arena_strndup(a, name, n));
    if (make && mkdir(*path, 0777) && errno != EEXIST)
        return err_fail(e, ERR_IO, "cannot make the folder %s: %s", *path, strerror(errno));
    *out = open(*path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*out >= 0)
        return OK;
    if (errno == ENOENT)
        return ERR_NOTFOUND;
    if (errno == ENOTDIR || errno == ELOOP)
        return err_fail(e, ERR_IO, "%s is a link or a file: a shared cache has only folders there",
                        *path);
    return err_fail(e, ERR_IO, "cannot read %s: %s", *path, strerror(errno));
}

static enum err_code list(struct name_map *names, struct transport *t, const char *folder,
                          struct err *e)
{
    struct arena a = {0};
    const char *path;
    struct dirent *entry;
    int fd = -1;
    enum err_code code = open_folder(&fd, &path, &a, t, folder, false, e);
    DIR *dir = code ? NULL : fdopendir(fd);
    errno = 0;
    while (!code && dir && (entry = readdir(dir)))
        code = transport_add_name(names, entry->d_name, e);
    if (!code && errno)
        code = err_fail(e, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (dir)
        closedir(dir);
    arena_free(&a);
    return code == ERR_NOTFOUND ? OK : code;
}

static enum err_code get(FILE **out, struct transport *t, const char *name, struct err *e)
{
    struct arena a = {0};
    const char *path;
    int folder = -1;
    enum err_code code = open_folder(&folder, &path, &a, t, name, false, e);
    if (code == ERR_NOTFOUND)
        code = err_fail(e, ERR_IO, "there is no folder %s", path);
    if (!code)
        code = in_file_open(out, folder, strchr(name, '/') + 1, os_join(&a, t->state, name), e);
    if (folder >= 0)
        close(folder);
    arena_free(&a);
    return code;
}

static enum err_code copy(FILE *to, const char *from, struct err *e)
{
    static _Thread_local char part[PART];
    FILE *f = fopen(from, "rbe");
    size_t n;
    while (f && (n = fread(part, 1, sizeof part, f)) > 0)
        if (fwrite(part, 1, n, to) != n)
            break;
    bool good = f && feof(f) && !ferror(f);
    if (f)
        fclose(f);
    return good || ferror(to) ? OK : err_fail(e, ERR_IO, "cannot read %s", from);
}

static enum err_code put(struct transport *t, const char *name, const char *path, struct err *e)
{
    struct arena a = {0};
    struct out_file file = {0};
    const char *place;
    int folder = -1;
    enum err_code code = open_folder(&folder, &place, &a, t, name, true, e);
    if (!code)
        code = out_file_replace(&file, &a, folder, strchr(name, '/') + 1,
                                os_join(&a, t->state, name), ".pack", e);
    if (!code)
        code = copy(file.f, path, e);
    code = out_file_close(&file, code, e);
    if (folder >= 0)
        close(folder);
    arena_free(&a);
    return err_up(e, code);
}

static const struct transport_kind kind = {list, get, put};

enum err_code transport_folder(struct transport *t, struct arena *a, const char *path,
                               struct err *e)
{
    struct os_stat st;
    if (os_stat(&st, path, NULL) || !st.is_dir)
        return err_fail(e, ERR_INPUT, "there is no folder %s to share results in: create it first",
                        path);
    t->kind = &kind;
    t->state = arena_strdup(a, path);
    return OK;
}
