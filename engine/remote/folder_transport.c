/* The transport for a folder that several machines share. */
#include "engine/remote/transport.h"

#include "base/io/out_file.h"
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

enum { PART = 1 << 16 };

static enum err_code list(struct name_map *names, struct transport *t, const char *folder,
                          struct err *e)
{
    struct arena a = {0};
    const char *path = os_join(&a, t->state, folder);
    DIR *dir = opendir(path);
    struct dirent *entry;
    enum err_code code = OK;
    if (!dir && errno != ENOENT)
        code = err_fail(e, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    while (dir && (entry = readdir(dir)))
        name_map_put(names, entry->d_name, 1, NULL);
    if (dir)
        closedir(dir);
    arena_free(&a);
    return code;
}

static enum err_code get(FILE **out, struct transport *t, const char *name, struct err *e)
{
    struct arena a = {0};
    const char *path = os_join(&a, t->state, name);
    *out = fopen(path, "rbe");
    enum err_code code =
        *out ? OK : err_fail(e, ERR_IO, "cannot read %s: %s", path, strerror(errno));
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
    const char *target = os_join(&a, t->state, name);
    enum err_code code = os_mkdirs(os_dirname(&a, target), e);
    if (!code)
        code = out_file_open(&file, &a, target, e);
    if (!code)
        code = copy(file.f, path, e);
    code = out_file_close(&file, code, e);
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
