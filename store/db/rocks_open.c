/* Opening and closing a database; see rocks.h.
 *
 * The log is kept rather than flushed when a database is opened, so that opening after a short run
 * costs milliseconds and leaves no tiny files; a writer with long logs flushes on closing. */
#include "store/db/rocks_internal.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FLUSH_ON_CLOSE = 64 << 10, /* bytes of log beyond which closing flushes */
    LOGS_ON_CLOSE = 4,         /* number of log files that has the same effect: each opening creates
                                  one */
    CACHE = 64 << 20,
    BLOCK_SIZE = 16 << 10,
    NAMES_BLOCK_SIZE = 1 << 10, /* a bad block loses what no run makes again */
};

/* ---- RocksDB's options: objects are not compressed, because their envelopes are; readers keep all
 * files open, since the writer may remove them, and the writer few ---- */

static const char *const family_names[ROCKS_FAMILIES] = {
    [ROCKS_DEFAULT] = "default", [ROCKS_OBJECTS] = "objects", [ROCKS_ACTIONS] = "actions",
    [ROCKS_TRACES] = "traces",   [ROCKS_REFS] = "refs",       [ROCKS_FILES] = "files",
    [ROCKS_RUNS] = "runs",       [ROCKS_META] = "meta",
};

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

static rocksdb_options_t *database_options(enum rocks_mode mode)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(o, mode == ROCKS_CREATE);
    rocksdb_options_set_paranoid_checks(o, 1);
    rocksdb_options_set_create_missing_column_families(o, mode != ROCKS_READ);
    rocksdb_options_set_max_open_files(o, mode == ROCKS_READ ? -1 : 512);
    /* RocksDB starts this many threads for every family, however few files there are. */
    rocksdb_options_set_max_file_opening_threads(o, 1);
    rocksdb_options_set_skip_stats_update_on_db_open(o, 1);
    /* Logs only on opening: errors are returned to us anyway, and on a full disk RocksDB 7.8 fails
     * an assertion in its own logger. Readers, which may lack write permission, do not log. */
    rocksdb_options_set_info_log_level(o, 5);
    rocksdb_options_set_keep_log_file_num(o, 2);
    if (mode == ROCKS_READ)
        rocksdb_options_set_db_log_dir(o, "/dev/null");
    rocksdb_options_set_recycle_log_file_num(o, 0);
    rocksdb_options_set_max_total_wal_size(o, 256 << 20);
    rocksdb_options_set_wal_recovery_mode(o, rocksdb_point_in_time_recovery);
    rocksdb_options_set_atomic_flush(o, 1);
    rocksdb_options_set_max_background_jobs(o, 2);
    rocksdb_options_set_bytes_per_sync(o, 1 << 20);
    rocksdb_options_set_stats_dump_period_sec(o, 0);
    rocksdb_options_set_stats_persist_period_sec(o, 0);
    return from_string(o, "avoid_flush_during_recovery=true;max_manifest_file_size=4194304;"
                          "track_and_verify_wals_in_manifest=true");
}

/* Partitions indexes and filters and reads them on demand, so that opening a table takes constant
 * time. */
static void part_indexes(rocksdb_block_based_table_options_t *table)
{
    enum { TWO_LEVELS = 2 };
    rocksdb_block_based_options_set_index_type(table, TWO_LEVELS);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_metadata_block_size(table, 4096);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
}

static rocksdb_options_t *options_of_family(enum rocks_family family, rocksdb_cache_t *cache)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    bool objects = family == ROCKS_OBJECTS;
    bool many = objects || family == ROCKS_ACTIONS || family == ROCKS_TRACES;
    rocksdb_block_based_options_set_block_size(table, many ? BLOCK_SIZE : NAMES_BLOCK_SIZE);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_checksum(table, 4); /* XXH3 */
    rocksdb_block_based_options_set_block_cache(table, cache);
    part_indexes(table);
    if (many)
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
    rocksdb_options_set_block_based_table_factory(o, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_set_compression(o, objects ? rocksdb_no_compression : rocksdb_lz4_compression);
    rocksdb_options_set_write_buffer_size(o, (size_t)(objects ? 64 : 16) << 20);
    rocksdb_options_set_disable_auto_compactions(o, 1); /* see rocks.c */
    /* A put first checks whether the record exists, and a run whether an action does; usually
     * neither does, and without a filter the whole memtable is searched. This filter takes 512 KiB
     * for objects, ten bits for each of 400,000 records, and a quarter of that for the others. */
    return many ? from_string(o, "memtable_prefix_bloom_size_ratio=0.0078125;"
                                 "memtable_whole_key_filtering=true")
                : o;
}

/* Also if that cannot be seen. */
static bool may_exist(const char *path)
{
    char current[4096];
    snprintf(current, sizeof current, "%s/CURRENT", path);
    return access(current, F_OK) == 0 || errno == EACCES;
}

/* Returns NULL or RocksDB's message. */
static char *open_database(struct rocks *r)
{
    char *message = NULL;
    const rocksdb_options_t *const *families = (const rocksdb_options_t *const *)r->family_options;
    if (r->read_only)
        r->db = rocksdb_open_for_read_only_column_families(
            r->options, r->path, ROCKS_FAMILIES, family_names, families, r->family, 0, &message);
    else
        r->db = rocksdb_open_column_families(r->options, r->path, ROCKS_FAMILIES, family_names,
                                             families, r->family, &message);
    if (message)
        r->db = NULL;
    return message;
}

static void close_database(struct rocks *r)
{
    if (!r->db)
        return;
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        rocksdb_column_family_handle_destroy(r->family[i]);
    rocksdb_close(r->db);
    r->db = NULL;
}

/* A log from which nothing could be replayed would stay because there is nothing to flush, and
 * readers reject it. */
static enum err_code leave_log(struct rocks *r)
{
    char *message = NULL;
    rocksdb_delete_cf(r->db, r->write, r->family[ROCKS_DEFAULT], "", 0, &message);
    rocksdb_free(message);
    return rocks_flush(r, NULL);
}

uint64_t rocks_latest(const struct rocks *r)
{
    return rocksdb_get_latest_sequence_number(r->db);
}

const char *rocks_family_name(enum rocks_family family)
{
    return family_names[family];
}

/* ---- what the log has lost. RocksDB replays a log up to the first entry that it cannot read, and
 * goes on with the next log if one is missing or ends early. ---- */

static void note_loss(struct rocks *r, uint64_t acknowledged)
{
    struct listed_file f;
    uint64_t latest = rocks_latest(r), first = 0;
    rocksdb_property_int(r->db, "rocksdb.min-log-number-to-keep", &first);
    if (acknowledged > latest)
        snprintf(r->loss, sizeof r->loss, "the last %" PRIu64 " entries acknowledged are lost",
                 acknowledged - latest);
    else if (listed_find_lost_log(&f, r->path, first))
        snprintf(r->loss, sizeof r->loss, "%s is gone, or not as it was written: entries are lost",
                 f.name);
}

const char *rocks_loss(const struct rocks *r)
{
    return *r->loss ? r->loss : NULL;
}

void rocks_settle(struct rocks *r)
{
    char path[ROCKS_PATH];
    if (!*r->loss || leave_log(r) == OK) {
        rocks_mark_path(path, r->path);
        r->mark = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        rocks_acknowledge(r, rocks_latest(r));
        listed_note(r, false);
    }
    rocks_merge_tables(r, ROCKS_MANY_TABLES);
}

/* Also of the directory itself. */
static bool sync_file(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced;
}

enum err_code rocks_sync_logs(struct rocks *r, struct err *e)
{
    DIR *d = opendir(r->path);
    bool synced = d != NULL;
    for (struct dirent *entry; synced && (entry = readdir(d));)
        synced = !text_ends_in(entry->d_name, ".log") || sync_file(dirfd(d), entry->d_name);
    synced = synced && sync_file(dirfd(d), ".");
    enum err_code code =
        synced ? OK : err_fail(e, ERR_IO, "cannot sync %s: %s", r->path, strerror(errno));
    if (d)
        closedir(d);
    return code;
}

/* ---- opening ---- */

static struct rocks *new_rocks(const char *path, enum rocks_mode mode)
{
    struct rocks *r = must_calloc(1, sizeof *r);
    r->path = strcpy(must_calloc(strlen(path) + 1, 1), path);
    r->read_only = mode == ROCKS_READ;
    r->mark = -1;
    pthread_mutex_init(&r->lock, NULL);
    r->options = database_options(mode);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(CACHE);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        r->family_options[i] = options_of_family((enum rocks_family)i, cache);
    rocksdb_cache_destroy(cache);
    r->read = rocksdb_readoptions_create();
    /* We delete no ranges. RocksDB 7.8 looks for such deletions where one table of a level ends,
     * and drops the error if the first block of the next one cannot be read. */
    rocksdb_readoptions_set_ignore_range_deletions(r->read, 1);
    r->write = rocksdb_writeoptions_create();
    r->write_sync = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(r->write_sync, 1);
    return r;
}

static enum err_code fail_opening(struct rocks *r, char *message, struct err *e)
{
    char what[300];
    snprintf(what, sizeof what, "cannot open the store in %.200s", r->path);
    enum err_code code = rocks_fail(e, r, what, message);
    rocks_close(r);
    return code;
}

/* Returns NULL or a message. */
static char *open_checked(struct rocks *r)
{
    struct listed_file bad;
    char message[120];
    if (!listed_find_changed(&bad, r->path, NULL))
        return open_database(r);
    snprintf(message, sizeof message, "Corruption: %s is not as it was written", bad.name);
    return strdup(message);
}

enum err_code rocks_open(struct rocks **out, const char *path, enum rocks_mode mode, struct err *e)
{
    bool read_only = mode == ROCKS_READ;
    uint64_t acknowledged = rocks_acknowledged(path);
    *out = NULL;
    if (!acknowledged && !may_exist(path) && mode != ROCKS_CREATE)
        return err_fail(e, ERR_NOTFOUND, "there is no store in %s", path);
    struct rocks *r = new_rocks(path, acknowledged && !read_only ? ROCKS_WRITE : mode);
    char *message = open_checked(r);
    if (message && read_only && !acknowledged && strstr(message, "Column family not found")) {
        rocksdb_free(message);
        rocks_close(r);
        return err_fail(e, ERR_NOTFOUND, "the store in %s is empty: it is being created", path);
    }
    if (message)
        return err_up(e, fail_opening(r, message, e));
    note_loss(r, acknowledged);
    if (read_only && *r->loss) {
        enum err_code code =
            err_fail(e, ERR_CORRUPT, "the log of the store in %s is damaged: %s", path, r->loss);
        rocks_close(r);
        err_hint(e, "%s", rocks_repair_hint);
        return code;
    }
    *out = r;
    return OK;
}

/* rocksdb_repair_db keeps tables of which a part cannot be read. */
enum err_code rocks_open_repaired(struct rocks **out, const char *path, struct err *e)
{
    struct rocks *r = new_rocks(path, ROCKS_WRITE);
    char *message = NULL;
    *out = NULL;
    rocksdb_options_set_paranoid_checks(r->options, 0);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        rocksdb_options_set_paranoid_checks(r->family_options[i], 0);
    rocksdb_repair_db(r->options, path, &message);
    if (!message)
        message = open_database(r);
    if (message)
        return err_up(e, fail_opening(r, message, e));
    *out = r;
    return OK;
}

enum err_code rocks_open_lenient(struct rocks **out, const char *path, enum rocks_mode mode,
                                 struct err *e)
{
    struct rocks *r = new_rocks(path, mode);
    *out = NULL;
    rocksdb_options_set_wal_recovery_mode(r->options, rocksdb_skip_any_corrupted_records_recovery);
    char *message = open_database(r);
    if (message)
        return err_up(e, fail_opening(r, message, e));
    *out = r;
    return OK;
}

/* Returns whether the next opening would be slow because it replays the logs. */
static bool logs_are_long(const char *path)
{
    DIR *d = opendir(path);
    unsigned n = 0;
    uint64_t bytes = 0;
    struct stat st;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (!text_ends_in(entry->d_name, ".log") || fstatat(dirfd(d), entry->d_name, &st, 0) != 0)
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
    /* A failed flush loses nothing: the log is kept. */
    if (r->db && !r->read_only && logs_are_long(r->path))
        rocks_flush(r, NULL);
    if (r->db && r->mark >= 0)
        listed_note(r, true);
    close_database(r);
    if (r->mark >= 0)
        close(r->mark);
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
