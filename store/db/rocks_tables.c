/* Tables of a database: written, merged, copied.
 *
 * Tables are merged by processes that write much. RocksDB by itself would begin as soon as a
 * database is opened, take one of two processors from a run of a second after a large one, and lose
 * all of it at the end: what is merged counts only when it is finished. */
#include "store/db/rocks_internal.h"

#include <stdlib.h>

static uint64_t count_unsorted(struct rocks *r, unsigned family)
{
    char *n = rocksdb_property_value_cf(r->db, r->family[family], "rocksdb.num-files-at-level0");
    uint64_t count = n ? strtoull(n, NULL, 10) : 0;
    rocksdb_free(n);
    return count;
}

/* Lets RocksDB merge the tables of families that have so many. Setting an option writes a file,
 * so nothing is set in vain; failing to is no loss. */
void rocks_merge_tables(struct rocks *r, uint64_t tables)
{
    static const char *const names[] = {"disable_auto_compactions"}, *const values[] = {"false"};
    for (unsigned i = 0; i < ROCKS_FAMILIES; i++) {
        char *message = NULL;
        if (count_unsorted(r, i) < tables || atomic_fetch_or(&r->merging, 1u << i) & 1u << i)
            continue;
        rocksdb_set_options_cf(r->db, r->family[i], 1, names, values, &message);
        rocksdb_free(message);
    }
}

void rocks_compact(struct rocks *r, enum rocks_family family)
{
    rocksdb_compact_range_cf(r->db, r->family[family], NULL, 0, NULL, 0);
}

/* Where RocksDB cannot make links to its tables it copies them only to another file system. Without
 * its threads nothing changes any more, and nothing needs them before it is closed. */
static enum err_code copy_all(struct rocks *r, const char *path, struct err *e)
{
    enum err_code code = rocks_flush(r, e);
    rocksdb_cancel_all_background_work(r->db, 1);
    return err_up(e, code == OK ? links_copy(path, r->path, e) : code);
}

enum err_code rocks_checkpoint(struct rocks *r, const char *path, struct err *e)
{
    if (links_are_refused(r->path))
        return err_up(e, copy_all(r, path, e));
    char *message = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(r->db, &message);
    if (!message)
        rocksdb_checkpoint_create(checkpoint, path, 0, &message);
    if (checkpoint)
        rocksdb_checkpoint_object_destroy(checkpoint);
    return message ? rocks_fail(e, r, "cannot copy the store", message) : OK;
}

enum err_code rocks_flush(struct rocks *r, struct err *e)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    char *message = NULL;
    /* Objects before the actions that refer to them, should the log be lost in between. */
    for (int i = 0; i < ROCKS_FAMILIES && !message; i++)
        rocksdb_flush_cf(r->db, options, r->family[i], &message);
    rocksdb_flushoptions_destroy(options);
    if (message)
        return rocks_fail(e, r, "cannot write to the store", message);
    manifest_note(r->path);
    return OK;
}
