/* See marks.h. Suspicion has two names: `suspect`, and `suspect.repair` while a repair looks at it;
 * either counts. */
#include "store/marks.h"

#include "base/os.h"
#include "base/io/out_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REASON_MAX = 4096 };

static char *suspect_path(struct arena *a, const char *store_path, bool in_repair)
{
    return arena_printf(a, "%s/suspect%s", store_path, in_repair ? ".repair" : "");
}

static char *damaged_path(struct arena *a, const char *store_path)
{
    return arena_printf(a, "%s/damaged", store_path);
}

void mark_suspect(const char *store_path)
{
    struct arena a = {0};
    int fd = open(suspect_path(&a, store_path, false), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    arena_free(&a);
}

bool mark_is_suspect(const char *store_path)
{
    struct arena a = {0};
    bool marked = access(suspect_path(&a, store_path, false), F_OK) == 0 ||
                  access(suspect_path(&a, store_path, true), F_OK) == 0;
    arena_free(&a);
    return marked;
}

void mark_repair_begins(const char *store_path)
{
    struct arena a = {0};
    rename(suspect_path(&a, store_path, false), suspect_path(&a, store_path, true));
    arena_free(&a);
}

void mark_repair_ends(const char *store_path)
{
    struct arena a = {0};
    unlink(suspect_path(&a, store_path, true));
    arena_free(&a);
}

void mark_damaged(const char *store_path, const char *why)
{
    struct arena a = {0};
    const char *path = damaged_path(&a, store_path);
    if (access(path, F_OK) != 0)
        out_file_write(path, why, strlen(why), NULL);
    arena_free(&a);
}

const char *mark_damage(struct arena *a, const char *store_path)
{
    struct span text;
    enum err_code code = os_read_file(&text, a, damaged_path(a, store_path), REASON_MAX, NULL);
    if (code == ERR_NOTFOUND)
        return NULL;
    if (code || !text.len)
        return "a file cannot be read";
    return arena_printf(a, "%.*s", (int)strcspn((const char *)text.data, "\n"),
                        (const char *)text.data);
}

void mark_rebuilt(const char *store_path)
{
    struct arena a = {0};
    unlink(damaged_path(&a, store_path));
    arena_free(&a);
}
