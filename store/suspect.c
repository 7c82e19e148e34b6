/* See suspect.h. Two names: what is suspected, and what a repair is looking at; a repair that was
 * cut off leaves the second, which counts like the first. */
#include "store/suspect.h"

#include "store/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char *path_of(struct arena *a, const char *store_path, bool at_work)
{
    return arena_printf(a, "%s/suspect%s", store_path, at_work ? ".repair" : "");
}

void suspect_mark(const char *store_path)
{
    struct arena a = {0};
    int fd = open(path_of(&a, store_path, false), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    arena_free(&a);
}

bool suspect_is_marked(const char *store_path)
{
    struct arena a = {0};
    bool marked = access(path_of(&a, store_path, false), F_OK) == 0 ||
                  access(path_of(&a, store_path, true), F_OK) == 0;
    arena_free(&a);
    return marked;
}

void suspect_begin(const char *store_path)
{
    struct arena a = {0};
    rename(path_of(&a, store_path, false), path_of(&a, store_path, true));
    arena_free(&a);
}

void suspect_end(const char *store_path)
{
    struct arena a = {0};
    unlink(path_of(&a, store_path, true));
    arena_free(&a);
}

enum err_code store_heal(bool *checked, struct fsck_result *out, struct store *s, struct err *e)
{
    *checked = suspect_is_marked(s->path);
    if (!*checked)
        return OK;
    return err_up(e, store_fsck(out, s, true, NULL, NULL, e));
}
