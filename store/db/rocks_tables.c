/* Tables of a database: written out and copied. */
#include "store/db/rocks_internal.h"

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
    listed_note(r);
    return OK;
}
