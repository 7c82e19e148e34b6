/* Opening and closing a database, whole or damaged; see rocks.h.
 *
 * The log is kept rather than flushed when a database is opened, so that opening after a short run
 * costs milliseconds and leaves no tiny files; a writer with long logs flushes on closing. */
#include "store/db/rocks_internal.h"

#include <dirent.h>
#include <fcntl.h>
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
static char *open_database(struct rocks *r)
{
    char *message = NULL;
    const rocksdb_options_t *const *families = (const rocksdb_options_t *const *)r->family_options;
    if (r->read_only)
        r->db = rocksdb_open_for_read_only_column_families(r->options, r->path, ROCKS_FAMILIES,
                                                           rocks_family_names, families, r->family,
                                                           0, &message);
    else
        r->db = rocksdb_open_column_families(r->options, r->path, ROCKS_FAMILIES,
                                             rocks_family_names, families, r->family, &message);
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

/* A log that gave nothing back at all would stay for want of anything to flush, and readers refuse
 * it. */
static enum err_code leave_log(struct rocks *r)
{
    char *message = NULL;
    rocksdb_delete_cf(r->db, r->write, r->family[ROCKS_DEFAULT], "", 0, &message);
    rocksdb_free(message);
    return rocks_flush(r, NULL);
}

/* How much the log did not give back. Then all is written into tables, so that the log is left
 * behind. A mark that cannot be written is done without. */
static void settle_mark(struct rocks *r, uint64_t acknowledged)
{
    char path[ROCKS_PATH];
    uint64_t latest = rocksdb_get_latest_sequence_number(r->db);
    r->lost = acknowledged > latest ? acknowledged - latest : 0;
    if (r->lost == 0 || leave_log(r) == OK) {
        rocks_mark_path(path, r->path);
        r->mark = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        rocks_acknowledge(r, latest);
    }
    listed_note(r);
}

/* Opens what rocksdb_repair_db can make of the tables and logs. It begins with an empty list of
 * files: cut off, it leaves what looks like a database without tables. So it works on links, in a
 * directory beside the database, which stays as it is. Whoever opened that copies it to where it
 * belongs. NULL or a message. */
static char *open_repaired(struct rocks *r)
{
    char *message = NULL, *path = malloc(strlen(r->path) + sizeof ROCKS_REPAIRED);
    struct err why = {0};
    if (!path)
        return strdup("out of memory");
    strcat(strcpy(path, r->path), ROCKS_REPAIRED);
    if (links_make(path, r->path, true, &why) != OK) {
        free(path);
        return strdup(why.message);
    }
    free(r->path);
    r->path = path;
    rocksdb_repair_db(r->options, path, &message);
    /* It keeps tables of which a part cannot be read. */
    rocksdb_options_set_paranoid_checks(r->options, 0);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        rocksdb_options_set_paranoid_checks(r->family_options[i], 0);
    return message ? message : open_database(r);
}

/* NULL or a message. */
static char *open_checked(struct rocks *r)
{
    char bad[64], message[120];
    if (listed_is_whole(bad, r->path, NULL))
        return open_database(r);
    snprintf(message, sizeof message, "Corruption: %s is not as it was written", bad);
    return strdup(message);
}

/* NULL or a message. */
static char *open_writer(struct rocks *r)
{
    char *message = open_checked(r);
    if (!message || !rocks_is_corruption(message))
        return message;
    rocks_note_damage(r, message);
    rocksdb_free(message);
    return open_repaired(r);
}

enum err_code rocks_open(struct rocks **out, const char *path, enum rocks_mode mode, struct err *e)
{
    bool read_only = mode == ROCKS_READ;
    uint64_t acknowledged = rocks_acknowledged(path);
    if (!acknowledged && !exists(path) && mode != ROCKS_CREATE)
        return err_fail(e, ERR_NOTFOUND, "there is no store in %s", path);
    struct rocks *r = must_calloc(1, sizeof *r);
    r->path = strcpy(must_calloc(strlen(path) + 1, 1), path);
    r->read_only = read_only;
    r->mark = -1;
    pthread_mutex_init(&r->lock, NULL);
    r->options = rocks_database_options(acknowledged && !read_only ? ROCKS_WRITE : mode);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(CACHE);
    for (int i = 0; i < ROCKS_FAMILIES; i++)
        r->family_options[i] = rocks_family_options((enum rocks_family)i, cache);
    rocksdb_cache_destroy(cache);
    r->read = rocksdb_readoptions_create();
    r->write = rocksdb_writeoptions_create();
    r->write_sync = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(r->write_sync, 1);

    char *message = read_only ? open_checked(r) : open_writer(r);
    if (message && read_only && !acknowledged && strstr(message, "Column family not found")) {
        rocksdb_free(message);
        rocks_close(r);
        return err_fail(e, ERR_NOTFOUND, "the store in %s is empty: it is being made", path);
    }
    if (message) {
        char what[300];
        snprintf(what, sizeof what, "cannot open the store in %.200s", path);
        enum err_code code = rocks_fail(e, r, what, message);
        rocks_close(r);
        return code;
    }
    if (read_only && rocksdb_get_latest_sequence_number(r->db) < acknowledged) {
        rocks_close(r);
        enum err_code code = err_fail(e, ERR_CORRUPT,
                                      "the log of the store in %s does not give back all that was "
                                      "acknowledged",
                                      path);
        err_hint(e, "%s", rocks_repair_hint);
        return code;
    }
    if (!read_only) {
        settle_mark(r, acknowledged);
        rocks_merge_tables(r, ROCKS_MANY_TABLES);
    }
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
    /* Failing to flush loses nothing: the log is there. */
    if (r->db && !r->read_only && logs_are_long(r->path))
        rocks_flush(r, NULL);
    if (r->db && !r->read_only)
        listed_note(r);
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
