/* See marks.h. Suspicion has two file names: `suspect`, and `suspect.repair` during a repair;
 * either marks the store. */
#include "store/marks.h"

#include "base/io/out_file.h"
#include "base/os.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REASON_MAX = 4096 };

static const char suspect[] = "suspect", in_repair[] = "suspect.repair", damaged[] = "damaged";

struct mark {
    char path[PATH_MAX];
};

static struct mark mark_of(const char *store_path, const char *name)
{
    struct mark m;
    snprintf(m.path, sizeof m.path, "%s/%s", store_path, name);
    return m;
}

static bool is_there(const char *store_path, const char *name)
{
    return access(mark_of(store_path, name).path, F_OK) == 0;
}

void mark_suspect(const char *store_path)
{
    int fd =
        open(mark_of(store_path, suspect).path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
}

bool mark_is_suspect(const char *store_path)
{
    return is_there(store_path, suspect) || is_there(store_path, in_repair);
}

void mark_repair_begins(const char *store_path)
{
    rename(mark_of(store_path, suspect).path, mark_of(store_path, in_repair).path);
}

void mark_repair_ends(const char *store_path)
{
    unlink(mark_of(store_path, in_repair).path);
}

void mark_damaged(const char *store_path, const char *why)
{
    if (!is_there(store_path, damaged))
        out_file_write(mark_of(store_path, damaged).path, why, strlen(why), NULL);
}

const char *mark_damage(struct arena *a, const char *store_path)
{
    struct span text;
    enum err_code code =
        os_read_file(&text, a, mark_of(store_path, damaged).path, REASON_MAX, NULL);
    if (code == ERR_NOTFOUND)
        return NULL;
    if (code || !text.len)
        return "a file cannot be read";
    return arena_printf(a, "%.*s", (int)strcspn((const char *)text.data, "\n"),
                        (const char *)text.data);
}

void mark_rebuilt(const char *store_path)
{
    unlink(mark_of(store_path, damaged).path);
}
