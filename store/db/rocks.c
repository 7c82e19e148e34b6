/* Reading and writing; see rocks.h.
 *
 * Tables are merged only by processes that write much. By default RocksDB would start merging as
 * soon as a database is opened, keep one of two processors busy during a short run, and lose the
 * work at its end, since a merge counts only when it is finished. */
#include "store/db/rocks_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITTEN = 16 << 20 }; /* bytes put by this process before tables may be merged */

const char rocks_repair_hint[] =
    "the next run, or 'eqloom fsck --repair', leaves out what is damaged; what is missing then is "
    "made again";

bool rocks_is_corruption(const char *message)
{
    return strncmp(message, "Corruption", 10) == 0 || strstr(message, "No such file") ||
           strstr(message, "create_if_missing") || strstr(message, "Column family not found");
}

void rocks_note_damage(struct rocks *r, const char *what)
{
    pthread_mutex_lock(&r->lock);
    if (r->damage.code == OK)
        err_fail(&r->damage, ERR_CORRUPT, "%s", what);
    pthread_mutex_unlock(&r->lock);
    r->damaged = true;
}

enum err_code rocks_fail(struct err *e, struct rocks *r, const char *what, char *message)
{
    enum err_code code = rocks_is_corruption(message) ? ERR_CORRUPT : ERR_IO;
    err_fail(e, code, "%s: %s", what, message);
    pthread_mutex_lock(&r->lock);
    if (r->trouble.code == OK)
        err_fail(&r->trouble, code, "%s: %s", what, message);
    pthread_mutex_unlock(&r->lock);
    if (code == ERR_CORRUPT) {
        rocks_note_damage(r, message);
        err_hint(e, "%s", rocks_repair_hint);
    }
    if (strstr(message, "No space left"))
        err_hint(e, "what is stored stays; make room and run again");
    if (strstr(message, "File too large"))
        err_hint(e, "a limit on file sizes was met (ulimit -f): what is stored stays; raise it and "
                    "run again");
    rocksdb_free(message);
    return code;
}

const char *rocks_damage(const struct rocks *r)
{
    return r->damaged ? r->damage.message : NULL;
}

const char *rocks_trouble(struct rocks *r)
{
    pthread_mutex_lock(&r->lock); /* the message never changes again */
    const char *message = r->trouble.code ? r->trouble.message : NULL;
    pthread_mutex_unlock(&r->lock);
    return message;
}

bool rocks_is_read_only(const struct rocks *r)
{
    return r->read_only;
}

enum err_code rocks_get(struct rocks_value *out, struct rocks *r, enum rocks_family family,
                        struct span key, struct err *e)
{
    *out = (struct rocks_value){0};
    char *message = NULL;
    rocksdb_pinnableslice_t *pin = rocksdb_get_pinned_cf(r->db, r->read, r->family[family],
                                                         (const char *)key.data, key.len, &message);
    if (message)
        return rocks_fail(e, r, "cannot read", message);
    if (!pin)
        return err_fail(e, ERR_NOTFOUND, "not in the store");
    size_t n = 0;
    const char *data = rocksdb_pinnableslice_value(pin, &n);
    *out = (struct rocks_value){span_of(data, n), pin};
    return OK;
}

void rocks_value_free(struct rocks_value *v)
{
    if (v->pin)
        rocksdb_pinnableslice_destroy(v->pin);
    *v = (struct rocks_value){0};
}

static uint64_t count_unsorted(struct rocks *r, unsigned family)
{
    char *n = rocksdb_property_value_cf(r->db, r->family[family], "rocksdb.num-files-at-level0");
    uint64_t count = n ? strtoull(n, NULL, 10) : 0;
    rocksdb_free(n);
    return count;
}

/* Setting an option writes a file, so it is set only if it changes; a failure does no harm. */
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

/* ---- the acknowledged sequence number: stored twice, 8 bytes little-endian each; the lower one
 * counts, so that neither a kill between the two nor a flipped bit raises a false alarm ---- */

void rocks_mark_path(char path[ROCKS_PATH], const char *db_path)
{
    snprintf(path, ROCKS_PATH, "%s/ACKNOWLEDGED", db_path);
}

uint64_t rocks_acknowledged(const char *db_path)
{
    char path[ROCKS_PATH];
    uint8_t bytes[16] = {0};
    rocks_mark_path(path, db_path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
    if (fd >= 0)
        close(fd);
    uint64_t first = get_le(bytes, 8), second = get_le(bytes + 8, 8);
    return !whole ? 0 : first < second ? first : second;
}

void rocks_acknowledge(struct rocks *r, uint64_t number)
{
    uint8_t bytes[16];
    pthread_mutex_lock(&r->lock);
    if (r->mark >= 0 && number >= r->acknowledged) {
        r->acknowledged = number;
        put_le(bytes, number, 8);
        put_le(bytes + 8, number, 8);
        /* On a full disk the mark is outdated, which only makes it less strict. */
        ssize_t wrote = pwrite(r->mark, bytes, sizeof bytes, 0);
        (void)wrote;
    }
    pthread_mutex_unlock(&r->lock);
}

/* ---- reading and writing ---- */

enum err_code rocks_write(struct rocks *r, const struct rocks_write *writes, size_t n, bool sync,
                          struct err *e)
{
    if (r->read_only)
        return err_fail(e, ERR_IO, "the store is open for reading only");
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct rocks_write *w = &writes[i];
        bytes += w->key.len + (w->remove ? 0 : w->value.len);
        const char *key = (const char *)w->key.data;
        if (w->remove)
            rocksdb_writebatch_delete_cf(batch, r->family[w->family], key, w->key.len);
        else
            rocksdb_writebatch_put_cf(batch, r->family[w->family], key, w->key.len,
                                      (const char *)w->value.data, w->value.len);
    }
    char *message = NULL;
    rocksdb_write(r->db, sync ? r->write_sync : r->write, batch, &message);
    rocksdb_writebatch_destroy(batch);
    if (message)
        return rocks_fail(e, r, "cannot write to the store", message);
    rocks_acknowledge(r, rocksdb_get_latest_sequence_number(r->db));
    if (atomic_fetch_add(&r->written, bytes) + bytes >= WRITTEN) {
        atomic_store(&r->written, 0);
        rocks_merge_tables(r, ROCKS_TABLES);
    }
    return OK;
}

/* ---- flushing and copying tables ---- */

void rocks_compact(struct rocks *r, enum rocks_family family)
{
    rocksdb_compact_range_cf(r->db, r->family[family], NULL, 0, NULL, 0);
}

/* If RocksDB cannot link its tables, it copies them only to another file system. This copies them
 * after stopping RocksDB's threads, so that no file changes; nothing needs the threads before
 * closing. */
static enum err_code copy_all(struct rocks *r, const char *path, struct err *e)
{
    enum err_code code = rocks_flush(r, e);
    rocksdb_cancel_all_background_work(r->db, 1);
    return err_up(e, code == OK ? links_make(path, r->path, NULL, NULL, e) : code);
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
    /* Objects before the actions that refer to them, in case the log is lost in between. */
    for (int i = 0; i < ROCKS_FAMILIES && !message; i++)
        rocksdb_flush_cf(r->db, options, r->family[i], &message);
    rocksdb_flushoptions_destroy(options);
    if (message)
        return rocks_fail(e, r, "cannot write to the store", message);
    if (r->mark >= 0)
        listed_note(r, false);
    return OK;
}
