/* The only user of rocksdb/c.h; see rocks.h.
 *
 * Choices: RocksDB's compression is off for objects: what is long is compressed already, compact
 * takes care of the rest, and LZ4 saves 1% and makes reads a third slower (docs/benchmarks.md). The
 * log is kept rather than flushed when a database is opened, so that opening after a short run
 * costs milliseconds and leaves no tiny files; a writer with long logs flushes on closing. Readers
 * must keep all files open (RocksDB's rule for secondary instances), the writer keeps few.
 *
 * Tables are merged by processes that write much. RocksDB by itself would begin as soon as a
 * database is opened, take one of two processors from a run of a second after a large one, and lose
 * all of it at the end: what is merged counts only when it is finished. */
#include "store/rocks.h"

#include "store/list.h"
#include "store/logfile.h"
#include "store/watermark.h"

#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK_SIZE = 16 << 10,
    FLUSH_ON_CLOSE = 64 << 10, /* bytes of log beyond which closing flushes */
    LOGS_ON_CLOSE = 4,         /* log files likewise: each opening begins one */
    CACHE = 64 << 20,
    WRITTEN = 16 << 20, /* bytes put by this process before tables may be merged */
    TABLES = 4,         /* unsorted ones of a family, that RocksDB would merge */
    MANY_TABLES = 16,   /* of which reading suffers */
};

static const char *const family_names[ROCKS_FAMILIES] = {
    [ROCKS_DEFAULT] = "default", [ROCKS_OBJECTS] = "objects", [ROCKS_ACTIONS] = "actions",
    [ROCKS_TRACES] = "traces",   [ROCKS_REFS] = "refs",       [ROCKS_FILES] = "files",
    [ROCKS_RUNS] = "runs",       [ROCKS_META] = "meta",
};

struct rocks {
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family[ROCKS_FAMILIES];
    rocksdb_options_t *options;
    rocksdb_options_t *family_options[ROCKS_FAMILIES];
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write, *write_sync;
    bool secondary;
    atomic_size_t written; /* bytes put since merging was last thought of */
    atomic_uint merging;   /* families whose tables may be merged, a bit each */
    atomic_bool damaged;
    pthread_mutex_t lock; /* of what follows */
    struct err damage;    /* what was met first */
    struct err log_damage;
    uint64_t lost;
    struct watermark watermark;
    char *path;
};

struct rocks_iter {
    struct rocks *rocks;
    rocksdb_iterator_t *it;
};

/* So is a table that is not there; under a reader, the writer may have removed it. */
static bool is_corruption(const struct rocks *r, const char *message)
{
    return strncmp(message, "Corruption", 10) == 0 ||
           (!r->secondary && strstr(message, "No such file") &&
            (strstr(message, ".ldb") || strstr(message, ".sst")));
}

static void note_damage(struct rocks *r, const char *what)
{
    pthread_mutex_lock(&r->lock);
    if (r->damage.code == OK)
        err_fail(&r->damage, ERR_CORRUPT, "%s", what);
    pthread_mutex_unlock(&r->lock);
    r->damaged = true;
}

/* Takes RocksDB's message over; "Corruption" is the one kind that callers act on. */
static enum err_code fail(struct err *e, struct rocks *r, const char *what, char *message)
{
    enum err_code code = is_corruption(r, message) ? ERR_CORRUPT : ERR_IO;
    err_fail(e, code, "%s: %s", what, message);
    if (code == ERR_CORRUPT) {
        note_damage(r, message);
        err_hint(e, "the next run, or 'eqloom fsck --repair', leaves out what is damaged; what is "
                    "missing then is made again");
    }
    if (strstr(message, "No space left"))
        err_hint(e, "what is stored stays; make room and run again");
    if (strstr(message, "File too large"))
        err_hint(e, "a limit on file sizes was met (ulimit -f): what is stored stays; raise it and "
                    "run again");
    rocksdb_free(message);
    return code;
}

static rocksdb_options_t *from_string(rocksdb_options_t *base, const char *text)
{
    rocksdb_options_t *out = rocksdb_options_create();
    char *message = NULL;
    rocksdb_get_options_from_string(base, text, out, &message);
    if (message)
        fprintf(stderr, "eqloom: RocksDB refuses an option: %s\n", message);
    assert(!message);
    rocksdb_options_destroy(base);
    return out;
}

static rocksdb_options_t *database_options(bool create, bool secondary)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(o, create);
    rocksdb_options_set_create_missing_column_families(o, !secondary);
    rocksdb_options_set_max_open_files(o, secondary ? -1 : 512);
    /* RocksDB starts all of these threads for every family, however few files there are. */
    rocksdb_options_set_max_file_opening_threads(o, 1);
    rocksdb_options_set_skip_stats_update_on_db_open(o, 1);
    /* Only what it says on opening: errors reach us anyway, and on a full disk RocksDB 7.8 dies of
     * an assertion in its own logger. */
    rocksdb_options_set_info_log_level(o, 5);
    rocksdb_options_set_keep_log_file_num(o, 2);
    rocksdb_options_set_recycle_log_file_num(o, 0);
    rocksdb_options_set_max_total_wal_size(o, 256 << 20);
    rocksdb_options_set_wal_recovery_mode(o, rocksdb_point_in_time_recovery);
    rocksdb_options_set_atomic_flush(o, 1);
    rocksdb_options_set_max_background_jobs(o, 2);
    rocksdb_options_set_bytes_per_sync(o, 1 << 20);
    rocksdb_options_set_stats_dump_period_sec(o, 0);
    rocksdb_options_set_stats_persist_period_sec(o, 0);
    return from_string(o, "avoid_flush_during_recovery=true;max_manifest_file_size=4194304;"
                          "skip_checking_sst_file_sizes_on_db_open=true;"
                          "file_checksum_gen_factory=FileChecksumGenCrc32cFactory");
}

/* Indexes and filters in pieces of a block each, read when they are asked for, so that opening a
 * table costs the same however large it is. */
static void part_indexes(rocksdb_block_based_table_options_t *table)
{
    enum { TWO_LEVELS = 2 };
    rocksdb_block_based_options_set_index_type(table, TWO_LEVELS);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_metadata_block_size(table, 4096);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
}

static rocksdb_options_t *family_options(enum rocks_family family, rocksdb_cache_t *cache)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, BLOCK_SIZE);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_checksum(table, 4); /* XXH3 */
    rocksdb_block_based_options_set_block_cache(table, cache);
    part_indexes(table);
    bool objects = family == ROCKS_OBJECTS;
    if (objects || family == ROCKS_ACTIONS)
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
    rocksdb_options_set_block_based_table_factory(o, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_set_compression(o, objects ? rocksdb_no_compression : rocksdb_lz4_compression);
    rocksdb_options_set_write_buffer_size(o, (size_t)(objects ? 64 : 16) << 20);
    rocksdb_options_set_disable_auto_compactions(o, 1); /* see merge_tables */
    /* A put asks first whether the record is there, mostly in vain: without a filter the whole
     * memtable is searched for it. This one takes 512 KiB, ten bits for each of 400,000 records. */
    return objects ? from_string(o, "memtable_prefix_bloom_size_ratio=0.0078125;"
                                    "memtable_whole_key_filtering=true")
                   : o;
}

static bool exists(const char *path)
{
    char current[4096];
    snprintf(current, sizeof current, "%s/CURRENT", path);
    return access(current, F_OK) == 0;
}

/* NULL or RocksDB's message. */
static char *open_database(struct rocks *r, const char *secondary_path)
{
    char *message = NULL;
    const rocksdb_options_t *const *families = (const rocksdb_options_t *const *)r->family_options;
    if (secondary_path)
        r->db = rocksdb_open_as_secondary_column_families(r->options, r->path, secondary_path,
                                                          ROCKS_FAMILIES, family_names, families,
                                                          r->family, &message);
    else
        r->db = rocksdb_open_column_families(r->options, r->path, ROCKS_FAMILIES, family_names,
                                             families, r->family, &message);
    return message;
}

/* A log that gave nothing back at all would stay for want of anything to flush, and readers refuse
 * it. */
static enum err_code leave_log(struct rocks *r)
{
    char *message = NULL;
    rocksdb_delete_cf(r->db, r->write, r->family[ROCKS_DEFAULT], "", 0, &message);
    rocksdb_free(message);
    return rocks_flush(r, NULL);
}

/* What the log did not give back. Then all is written into tables, for the log to be left behind.
 */
static void settle_watermark(struct rocks *r, uint64_t acknowledged)
{
    uint64_t latest = rocksdb_get_latest_sequence_number(r->db);
    r->lost = acknowledged > latest ? acknowledged - latest : 0;
    if (r->lost)
        logfile_find_damage(r->path, &r->log_damage);
    if (r->secondary)
        return;
    if (r->lost == 0 || leave_log(r) == OK)
        watermark_open(&r->watermark, r->path, latest);
}

static uint64_t count_unsorted(struct rocks *r, unsigned family)
{
    char *n = rocksdb_property_value_cf(r->db, r->family[family], "rocksdb.num-files-at-level0");
    uint64_t count = n ? strtoull(n, NULL, 10) : 0;
    rocksdb_free(n);
    return count;
}

/* Lets RocksDB merge the tables of families that have so many. Setting an option writes a file,
 * so nothing is set in vain; failing to is no loss. */
static void merge_tables(struct rocks *r, uint64_t tables)
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

/* Opens what can be made of the files without their list: a database beside this one, which stays
 * as it is. Whoever opened it copies it to where it belongs. NULL or RocksDB's message. */
static char *open_repaired(struct rocks *r)
{
    char *message = NULL, *path = malloc(strlen(r->path) + sizeof ROCKS_REPAIRED);
    struct err why = {0};
    if (!path)
        return strdup("out of memory");
    strcat(strcpy(path, r->path), ROCKS_REPAIRED);
    if (list_link_files(path, r->path, &why) != OK) {
        free(path);
        return strdup(why.message);
    }
    free(r->path);
    r->path = path;
    rocksdb_repair_db(r->options, path, &message);
    return message ? message : open_database(r, NULL);
}

static bool is_list_bad(struct rocks *r, uint64_t acknowledged)
{
    struct err why = {0};
    bool bad = list_check(r->path, acknowledged, &why) == ERR_CORRUPT;
    if (bad)
        note_damage(r, why.message);
    return bad;
}

/* A file whose index is bad: do without it rather than without everything. */
static void be_tolerant(struct rocks *r)
{
    rocksdb_options_set_paranoid_checks(r->options, 0);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        rocksdb_options_set_paranoid_checks(r->family_options[i], 0);
}

/* What ends in the middle of an older log leaves tables that hold more than the logs do. RocksDB
 * says no more than that; which log it was, and where, is said here. */
static void note_refusal(struct rocks *r, const char *message)
{
    struct err why = {0};
    bool is_log = strstr(message, "ahead of WAL") != NULL;
    if (is_log)
        logfile_find_damage(r->path, &why);
    note_damage(r, is_log ? why.message : message);
}

/* NULL or RocksDB's message. */
static char *open_writer(struct rocks *r, uint64_t acknowledged)
{
    char *message = NULL;
    bool bad = is_list_bad(r, acknowledged);
    if (!bad) {
        message = open_database(r, NULL);
        if (!message || !is_corruption(r, message))
            return message;
        note_refusal(r, message);
        rocksdb_free(message);
    }
    be_tolerant(r);
    message = bad ? NULL : open_database(r, NULL);
    if (bad || message) {
        rocksdb_free(message);
        message = open_repaired(r);
    }
    return message;
}

/* Looks at the list only if RocksDB does not like it: a writer may be at it. */
static char *open_reader(struct rocks *r, const char *secondary_path, uint64_t acknowledged)
{
    char *message = open_database(r, secondary_path);
    if (!message || !(is_list_bad(r, acknowledged) || is_corruption(r, message)))
        return message;
    note_damage(r, message);
    rocksdb_free(message);
    be_tolerant(r);
    return open_database(r, secondary_path);
}

enum err_code rocks_open(struct rocks **out, const char *path, const char *secondary_path,
                         bool create, struct err *e)
{
    bool secondary = secondary_path != NULL;
    if (!exists(path) && secondary && list_has_files(path)) {
        err_fail(e, ERR_CORRUPT, "the store is damaged: %s/CURRENT is missing", path);
        err_hint(e, "the next run, or 'eqloom fsck --repair', makes it again from the tables");
        return ERR_CORRUPT;
    }
    if (!exists(path) && !list_has_files(path) && (!create || secondary))
        return err_fail(e, ERR_NOTFOUND, "there is no store in %s", path);
    struct rocks *r = calloc(1, sizeof *r);
    if (!r)
        return err_fail(e, ERR_NOMEM, "out of memory opening %s", path);
    r->secondary = secondary;
    r->watermark.fd = -1;
    pthread_mutex_init(&r->lock, NULL);
    r->path = strdup(path);
    r->options = database_options(create, secondary);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(CACHE);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        r->family_options[i] = family_options((enum rocks_family)i, cache);
    rocksdb_cache_destroy(cache);
    r->read = rocksdb_readoptions_create();
    r->write = rocksdb_writeoptions_create();
    r->write_sync = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(r->write_sync, 1);

    uint64_t acknowledged = watermark_read(path);
    char *message =
        secondary ? open_reader(r, secondary_path, acknowledged) : open_writer(r, acknowledged);
    if (message) {
        char what[300];
        snprintf(what, sizeof what, "cannot open the store in %.200s", path);
        enum err_code code = fail(e, r, what, message);
        r->db = NULL;
        rocks_close(r);
        return code;
    }
    settle_watermark(r, acknowledged);
    if (!secondary)
        merge_tables(r, MANY_TABLES);
    *out = r;
    return OK;
}

/* Whether the next opening would be slow: it reads the logs. */
static bool logs_are_long(const char *path)
{
    DIR *d = opendir(path);
    unsigned n = 0;
    uint64_t bytes = 0;
    struct stat st;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        size_t len = strlen(entry->d_name);
        if (len < 4 || strcmp(entry->d_name + len - 4, ".log") != 0 ||
            fstatat(dirfd(d), entry->d_name, &st, 0) != 0)
            continue;
        n++;
        bytes += (uint64_t)st.st_size;
    }
    if (d)
        closedir(d);
    return n > LOGS_ON_CLOSE || bytes > FLUSH_ON_CLOSE;
}

void rocks_close(struct rocks *r)
{
    if (!r)
        return;
    if (r->db) {
        /* Failing to flush loses nothing: the log is there. */
        if (!r->secondary && logs_are_long(r->path))
            rocks_flush(r, NULL);
        for (int i = 0; i < ROCKS_FAMILIES; i++)
            rocksdb_column_family_handle_destroy(r->family[i]);
        rocksdb_close(r->db);
    }
    watermark_close(&r->watermark);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        rocksdb_options_destroy(r->family_options[i]);
    rocksdb_options_destroy(r->options);
    rocksdb_readoptions_destroy(r->read);
    rocksdb_writeoptions_destroy(r->write);
    rocksdb_writeoptions_destroy(r->write_sync);
    pthread_mutex_destroy(&r->lock);
    free(r->path);
    free(r);
}

bool rocks_is_damaged(const struct rocks *r)
{
    return r->damaged;
}

const char *rocks_damage(const struct rocks *r)
{
    return r->damage.message;
}

const char *rocks_log_damage(const struct rocks *r)
{
    return r->log_damage.message;
}

uint64_t rocks_lost_writes(const struct rocks *r)
{
    return r->lost;
}

const char *rocks_path(const struct rocks *r)
{
    return r->path;
}

bool rocks_is_secondary(const struct rocks *r)
{
    return r->secondary;
}

enum err_code rocks_refresh(struct rocks *r, struct err *e)
{
    if (!r->secondary)
        return OK;
    char *message = NULL;
    rocksdb_try_catch_up_with_primary(r->db, &message);
    return message ? fail(e, r, "cannot follow the writer", message) : OK;
}

enum err_code rocks_get(struct rocks_value *out, struct rocks *r, enum rocks_family family,
                        struct span key, struct err *e)
{
    *out = (struct rocks_value){0};
    char *message = NULL;
    const char *k = (const char *)key.data;
    rocksdb_pinnableslice_t *pin =
        rocksdb_get_pinned_cf(r->db, r->read, r->family[family], k, key.len, &message);
    if (message && r->secondary) {
        /* The writer may have removed a file that this reader still counted on. */
        rocksdb_free(message);
        message = NULL;
        rocks_refresh(r, NULL);
        pin = rocksdb_get_pinned_cf(r->db, r->read, r->family[family], k, key.len, &message);
    }
    if (message)
        return fail(e, r, "cannot read", message);
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

enum err_code rocks_write(struct rocks *r, const struct rocks_write *writes, size_t n, bool sync,
                          struct err *e)
{
    if (r->secondary)
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
        return fail(e, r, "cannot write to the store", message);
    watermark_raise(&r->watermark, rocksdb_get_latest_sequence_number(r->db));
    if (atomic_fetch_add(&r->written, bytes) + bytes >= WRITTEN) {
        atomic_store(&r->written, 0);
        merge_tables(r, TABLES);
    }
    return OK;
}

struct rocks_iter *rocks_iter_new(struct rocks *r, enum rocks_family family)
{
    struct rocks_iter *it = malloc(sizeof *it);
    if (!it)
        abort();
    *it = (struct rocks_iter){r, rocksdb_create_iterator_cf(r->db, r->read, r->family[family])};
    return it;
}

void rocks_iter_free(struct rocks_iter *it)
{
    if (it)
        rocksdb_iter_destroy(it->it);
    free(it);
}

void rocks_iter_seek(struct rocks_iter *it, struct span key)
{
    rocksdb_iter_seek(it->it, (const char *)key.data, key.len);
}

void rocks_iter_seek_last(struct rocks_iter *it, struct span key)
{
    rocksdb_iter_seek_for_prev(it->it, (const char *)key.data, key.len);
}

void rocks_iter_next(struct rocks_iter *it)
{
    rocksdb_iter_next(it->it);
}

void rocks_iter_prev(struct rocks_iter *it)
{
    rocksdb_iter_prev(it->it);
}

bool rocks_iter_valid(const struct rocks_iter *it)
{
    return rocksdb_iter_valid(it->it);
}

enum err_code rocks_iter_error(const struct rocks_iter *it, struct err *e)
{
    char *message = NULL;
    rocksdb_iter_get_error(it->it, &message);
    return message ? fail(e, it->rocks, "cannot read", message) : OK;
}

struct span rocks_iter_key(const struct rocks_iter *it)
{
    size_t n = 0;
    const char *key = rocksdb_iter_key(it->it, &n);
    return span_of(key, n);
}

struct span rocks_iter_value(const struct rocks_iter *it)
{
    size_t n = 0;
    const char *value = rocksdb_iter_value(it->it, &n);
    return span_of(value, n);
}

void rocks_compact(struct rocks *r, enum rocks_family family)
{
    rocksdb_compact_range_cf(r->db, r->family[family], NULL, 0, NULL, 0);
}

enum err_code rocks_checkpoint(struct rocks *r, const char *path, struct err *e)
{
    char *message = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(r->db, &message);
    if (!message)
        rocksdb_checkpoint_create(checkpoint, path, 0, &message);
    if (checkpoint)
        rocksdb_checkpoint_object_destroy(checkpoint);
    return message ? fail(e, r, "cannot copy the store", message) : OK;
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
    return message ? fail(e, r, "cannot write to the store", message) : OK;
}
