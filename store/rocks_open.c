/* Opening and closing a database, whole or damaged; see rocks.h.
 *
 * The log is kept rather than flushed when a database is opened, so that opening after a short run
 * costs milliseconds and leaves no tiny files; a writer with long logs flushes on closing. */
#include "store/rocks_internal.h"

#include "store/links.h"
#include "store/list.h"
#include "store/logfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FLUSH_ON_CLOSE = 64 << 10, /* bytes of log beyond which closing flushes */
    LOGS_ON_CLOSE = 4,         /* log files likewise: each opening begins one */
    CACHE = 64 << 20,
};

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
                                                          ROCKS_FAMILIES, rocks_family_names,
                                                          families, r->family, &message);
    else
        r->db = rocksdb_open_column_families(r->options, r->path, ROCKS_FAMILIES,
                                             rocks_family_names, families, r->family, &message);
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

/* Opens what can be made of the files without their list: a database beside this one, which stays
 * as it is. Whoever opened it copies it to where it belongs. NULL or RocksDB's message. */
static char *open_repaired(struct rocks *r)
{
    char *message = NULL, *path = malloc(strlen(r->path) + sizeof ROCKS_REPAIRED);
    struct err why = {0};
    if (!path)
        return strdup("out of memory");
    strcat(strcpy(path, r->path), ROCKS_REPAIRED);
    if (links_make(path, r->path, &why) != OK) {
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
        rocks_note_damage(r, why.message);
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
    rocks_note_damage(r, is_log ? why.message : message);
}

/* NULL or RocksDB's message. */
static char *open_writer(struct rocks *r, uint64_t acknowledged)
{
    char *message = NULL;
    bool bad = is_list_bad(r, acknowledged);
    if (!bad) {
        message = open_database(r, NULL);
        if (!message || !rocks_is_corruption(r, message))
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
    if (!message || !(is_list_bad(r, acknowledged) || rocks_is_corruption(r, message)))
        return message;
    rocks_note_damage(r, message);
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
    r->options = rocks_database_options(create, secondary);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(CACHE);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        r->family_options[i] = rocks_family_options((enum rocks_family)i, cache);
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
        enum err_code code = rocks_fail(e, r, what, message);
        r->db = NULL;
        rocks_close(r);
        return code;
    }
    settle_watermark(r, acknowledged);
    if (!secondary)
        rocks_merge_tables(r, ROCKS_MANY_TABLES);
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
