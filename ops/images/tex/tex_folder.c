#include "ops/images/tex/tex_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum err_code tex_folder_new(struct tex_folder *f, const struct tex_folder *in, unsigned n,
                             struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    size_t size = sizeof f->path;
    int used = in ? snprintf(f->path, size, "%s/%u", in->path, n)
                  : snprintf(f->path, size, "%s/eqloom-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    bool made =
        used > 0 && (size_t)used < size && (in ? !mkdir(f->path, 0700) : mkdtemp(f->path) != NULL);
    if (!made) {
        enum err_code code = err_fail(e, ERR_IO, "cannot make a folder %.200s: %s (see TMPDIR)",
                                      f->path, strerror(errno));
        f->path[0] = 0;
        return code;
    }
    return OK;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    remove(path);
    return 0;
}

void tex_folder_free(struct tex_folder *f)
{
    if (f->path[0])
        nftw(f->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    f->path[0] = 0;
}

static void join(char path[400], const struct tex_folder *f, const char *name)
{
    snprintf(path, 400, "%s/%s", f->path, name);
}

enum err_code tex_folder_write(const struct tex_folder *f, const char *name, struct span data,
                               struct err *e)
{
    char path[400];
    join(path, f, name);
    FILE *to = fopen(path, "wb");
    if (!to)
        return err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    size_t written = fwrite(data.data, 1, data.len, to);
    if (fclose(to) || written < data.len)
        return err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return OK;
}

enum err_code tex_folder_read(struct span *out, struct arena *a, const struct tex_folder *f,
                              const char *name, struct err *e)
{
    char path[400];
    struct stat s;
    join(path, f, name);
    FILE *from = fopen(path, "rb");
    if (!from || fstat(fileno(from), &s) || !S_ISREG(s.st_mode)) {
        if (from)
            fclose(from);
        return err_fail(e, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    }
    char *data = arena_alloc(a, (size_t)s.st_size + 1);
    size_t n = fread(data, 1, (size_t)s.st_size, from);
    data[n] = 0;
    fclose(from);
    *out = span_of(data, n);
    return OK;
}

bool tex_folder_has(const struct tex_folder *f, const char *name)
{
    char path[400];
    join(path, f, name);
    return access(path, R_OK) == 0;
}
