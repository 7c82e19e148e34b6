/* Copying a store; see maintain.h.
 *
 * The backup is made as DIRECTORY.partial, read to the end, and renamed when complete: if
 * interrupted, nothing has the final name, and the next backup removes the leftover. */
#include "store/maintain.h"

#include "base/io/out_file.h"
#include "base/os.h"
#include "store/internal.h"
#include "store/salvage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void remember_first(void *arg, const struct rocks_range *range, const char *why)
{
    struct buf *first = arg;
    if (!first->len)
        buf_puts(first, why);
}

static enum err_code accept(void *arg, struct span key, struct span value, struct err *e)
{
    return OK;
}

/* Reads the copy, whose blocks have checksums. Opening it for writing creates its own mark of
 * acknowledged writes. */
static enum err_code check_copy(const char *db, struct err *e)
{
    struct rocks *r = NULL;
    struct buf fault = {0};
    enum err_code code = rocks_open(&r, db, ROCKS_WRITE, e);
    if (!code)
        rocks_settle(r);
    for (int i = ROCKS_DEFAULT + 1; !code && !fault.len && i < ROCKS_FAMILIES; i++)
        code = rocks_scan(r, (enum rocks_family)i, NULL, accept, remember_first, &fault, e);
    if (!code && fault.len)
        code = err_fail(e, ERR_CORRUPT,
                        "the backup would be damaged: %s; 'eqloom run' or 'eqloom "
                        "fsck --repair' repairs the store",
                        fault.data);
    rocks_close(r);
    buf_free(&fault);
    return err_up(e, code);
}

/* Removes what a killed backup left; ERR_INPUT if the directory holds anything else. */
static enum err_code remove_leftover(const char *partial, struct err *e)
{
    static const char *const ours[] = {".", "..", "db", "db.tmp", "lock"};
    enum err_code code = OK;
    DIR *d = opendir(partial);
    if (!d && errno == ENOENT)
        return OK;
    if (!d)
        return err_fail(e, ERR_INPUT, "%s is in the way: %s", partial, strerror(errno));
    for (struct dirent *entry; code == OK && (entry = readdir(d));) {
        bool is_ours = strncmp(entry->d_name, "lock.", 5) == 0;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            is_ours = is_ours || strcmp(entry->d_name, ours[i]) == 0;
        if (!is_ours)
            code = err_fail(e, ERR_INPUT, "%s is in the way: it holds %s, which no backup made",
                            partial, entry->d_name);
    }
    closedir(d);
    if (code == OK)
        os_remove_tree(partial);
    return code;
}

/* Copies into `partial`, which is renamed when complete. */
static enum err_code copy_checked(struct store *s, const char *partial, struct arena *a,
                                  struct err *e)
{
    const char *db = arena_printf(a, "%s/db", partial);
    enum err_code code = os_mkdirs(partial, e);
    if (code == OK)
        code = rocks_checkpoint(s->rocks, db, e);
    if (code == OK) /* writers look for it */
        code = out_file_write(arena_printf(a, "%s/lock", partial), "", 0, e);
    if (code == OK)
        code = check_copy(db, e);
    return err_up(e, code);
}

enum err_code store_backup(struct store *s, const char *directory, struct err *e)
{
    struct arena a = {0};
    enum err_code code = OK;
    size_t n = strlen(directory);
    while (n > 1 && directory[n - 1] == '/')
        n--;
    const char *partial = arena_printf(&a, "%.*s.partial", (int)n, directory);
    if (access(directory, F_OK) == 0)
        code = err_fail(e, ERR_INPUT, "%s already exists", directory);
    if (code == OK)
        code = err_up(e, remove_leftover(partial, e));
    if (code == OK) {
        code = copy_checked(s, partial, &a, e);
        if (code == OK && rename(partial, directory) != 0)
            code = err_fail(e, ERR_IO, "cannot name the backup %s: %s", directory, strerror(errno));
        if (code != OK)
            os_remove_tree(partial);
    }
    arena_free(&a);
    return err_up(e, code);
}
