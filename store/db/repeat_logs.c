/* Repeating the writes of logs in another database; see rocks_internal.h. Families have the same
 * numbers in all databases, since all are created in the same order. */
#include "store/db/rocks_internal.h"

#include "base/arena.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ABOVE = 1000 }; /* added to the numbers of logs: more than a new database has used */

/* Links the logs into a new database, as if it had written them. */
static enum err_code adopt_logs(const char *work, const char *from, struct err *e)
{
    struct arena a = {0};
    enum err_code code = OK;
    DIR *d = opendir(from);
    for (struct dirent *entry; !code && d && (entry = readdir(d));)
        if (text_ends_in(entry->d_name, ".log"))
            code = links_add(arena_printf(&a, "%s/%06llu.log", work,
                                          strtoull(entry->d_name, NULL, 10) + ABOVE),
                             from, entry->d_name, e);
    if (d)
        closedir(d);
    arena_free(&a);
    return err_up(e, code);
}

/* Repeats the writes after number *last, up to a gap. Returns whether there was any. */
static bool repeat(uint64_t *last, struct rocks *to, struct rocks *from, char **message)
{
    bool any = false;
    char *end = NULL;
    rocksdb_wal_iterator_t *it = rocksdb_get_updates_since(from->db, *last + 1, NULL, &end);
    for (; !end && !*message && rocksdb_wal_iter_valid(it); rocksdb_wal_iter_next(it)) {
        uint64_t first;
        rocksdb_writebatch_t *batch = rocksdb_wal_iter_get_batch(it, &first);
        rocksdb_write(to->db, to->write, batch, message);
        *last = first + (uint64_t)rocksdb_writebatch_count(batch) - 1;
        rocksdb_writebatch_destroy(batch);
        any = true;
    }
    if (!end)
        rocksdb_wal_iter_destroy(it);
    rocksdb_free(end);
    return any;
}

enum err_code rocks_repeat_logs(uint64_t *last, struct rocks *to, const char *work,
                                const char *from, struct err *e)
{
    struct rocks *r = NULL;
    char *message = NULL;
    *last = 0;
    enum err_code code = rocks_open(&r, work, ROCKS_CREATE, e);
    rocks_close(r);
    if (!code)
        code = adopt_logs(work, from, e);
    if (!code)
        code = rocks_open_lenient(&r, work, ROCKS_WRITE, e);
    if (code)
        return err_up(e, code);
    while (!message && repeat(last, to, r, &message)) {}
    rocks_close(r);
    return message ? rocks_fail(e, to, "cannot write to the store", message) : OK;
}
