/* Rebuilding a database without its bad blocks; see salvage.h.
 *
 * A bad block affects more than its records: compaction fails at it, and then RocksDB accepts no
 * more writes. So a process that meets one sets a mark (the file `damaged`), and the next writer
 * copies what can be read (rocks_rescue):
 *
 *     db -> db.new (complete, flushed); db -> db.old; db.new -> db; db.old removed; mark removed
 *
 * After an interruption before the second step, db.new is discarded; after it, db.old is renamed
 * back. */
#include "store/salvage.h"

#include "store/internal.h"
#include "store/marks.h"

#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { PARTS_TOLD = 3 };

struct places {
    char *db, *fresh, *old, *repaired;
};

static struct places places_of(struct arena *a, const char *store_path)
{
    return (struct places){arena_printf(a, "%s/db", store_path),
                           arena_printf(a, "%s/db.new", store_path),
                           arena_printf(a, "%s/db.old", store_path),
                           arena_printf(a, "%s/db" ROCKS_REPAIRED, store_path)};
}

/* Puts the new database in the place of the old one. */
static enum err_code replace(const struct places *p, const char *store_path, struct err *e)
{
    if (rename(p->db, p->old) == 0 && rename(p->fresh, p->db) == 0) {
        os_remove_tree(p->old);
        mark_rebuilt(store_path);
        return OK;
    }
    enum err_code code = err_fail(e, ERR_IO, "cannot put the rebuilt database in %s: %s", p->db,
                                  strerror(errno));
    salvage_settle(store_path);
    return code;
}

/* "the store was damaged: WHY; it was rebuilt ..., and what is missing is made again; gone: ..." */
static void give_notice(struct store *s, const char *why)
{
    const char *line = s->gone.data ? s->gone.data : "";
    buf_clear(&s->notice);
    buf_printf(&s->notice,
               "the store was damaged: %s; it was rebuilt from what can be read, and what is "
               "missing is made again",
               why);
    for (int i = 0; *line; i++) {
        int n = (int)strcspn(line, "\n");
        if (i < PARTS_TOLD)
            buf_printf(&s->notice, "\n  %.*s", n, line);
        else if (i == PARTS_TOLD)
            buf_puts(&s->notice, "\n  ...");
        line += n + (line[n] == '\n');
    }
}

enum err_code store_salvage(struct store *s, const char *why, struct err *e)
{
    struct arena a = {0};
    struct places p = places_of(&a, s->path);
    why = arena_strdup(&a, why); /* it may belong to the database that is closed */
    mark_suspect(s->path);       /* records may be missing from now on */
    mark_damaged(s->path, why);
    rocks_close(s->rocks);
    s->rocks = NULL;
    os_remove_tree(p.fresh);
    enum err_code code = rocks_rescue(&s->gone, p.fresh, p.db, e);
    if (code == OK)
        code = replace(&p, s->path, e);
    if (code == OK)
        code = rocks_open(&s->rocks, p.db, ROCKS_WRITE, e);
    if (code == OK) {
        rocks_settle(s->rocks);
        give_notice(s, why);
    }
    arena_free(&a);
    return err_up(e, code);
}

void salvage_settle(const char *store_path)
{
    struct arena a = {0};
    struct places p = places_of(&a, store_path);
    if (access(p.old, F_OK) == 0) {
        if (access(p.db, F_OK) != 0)
            rename(p.old, p.db);
        else
            os_remove_tree(p.old);
    }
    if (access(p.fresh, F_OK) == 0)
        os_remove_tree(p.fresh);
    if (access(p.repaired, F_OK) == 0)
        os_remove_tree(p.repaired);
    arena_free(&a);
}
