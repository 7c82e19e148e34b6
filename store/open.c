/* Opening and closing a store, by its one writer or by a reader; see store.h.
 *
 * A reader has a directory of its own, where RocksDB keeps what it says of itself: in the store, or
 * in $TMPDIR if it may not write there. A reader that dies leaves it to the next writer. */
#include "store/internal.h"
#include "store/lock.h"
#include "store/rebuild.h"
#include "store/suspect.h"
#include "store/tables.h"

#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECKED_ON_OPENING = 2 << 20 }; /* bytes of tables; 1 ms */

static void remove_directory(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
    rmdir(path);
}

/* Directories of readers that died. */
static void sweep_secondaries(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || (kill((pid_t)pid, 0) == 0 || errno != ESRCH))
            continue;
        struct buf dead = {0};
        buf_printf(&dead, "%s/%s", path, entry->d_name);
        remove_directory(dead.data);
        buf_free(&dead);
    }
    closedir(d);
}

/* A directory of a reader's own, in the store or, if that cannot be written, in $TMPDIR. */
static enum err_code make_secondary_path(char **out, const char *store_path, struct err *e)
{
    static atomic_uint counter;
    struct buf path = {0};
    buf_printf(&path, "%s/secondary/%ld.%u", store_path, (long)getpid(),
               atomic_fetch_add(&counter, 1));
    if (os_mkdirs(path.data, NULL) != OK) {
        const char *tmp = getenv("TMPDIR");
        buf_clear(&path);
        buf_printf(&path, "%s/eqloom-reader-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(path.data)) {
            enum err_code code =
                err_fail(e, ERR_IO, "cannot make %s: %s", path.data, strerror(errno));
            buf_free(&path);
            return code;
        }
    }
    *out = path.data;
    return OK;
}

/* .eqloom/secondary, once the last reader has gone; $TMPDIR is not ours. */
static void remove_parent(const struct store *s)
{
    struct buf parent = {0};
    buf_printf(&parent, "%s/secondary", s->path);
    size_t n = strlen(parent.data);
    if (strncmp(s->secondary_path, parent.data, n) == 0 && s->secondary_path[n] == '/')
        rmdir(parent.data);
    buf_free(&parent);
}

static bool has_records(struct rocks *r)
{
    struct rocks_iter *it = rocks_iter_new(r, ROCKS_OBJECTS);
    rocks_iter_seek(it, span_of("", 0));
    bool any = rocks_iter_valid(it) || rocks_iter_error(it, NULL) != OK;
    rocks_iter_free(it);
    return any;
}

static enum err_code write_format(struct store *s, struct err *e)
{
    char text[16];
    snprintf(text, sizeof text, "%d", STORE_FORMAT);
    struct rocks_write w = {ROCKS_META, false, span_str("format"), span_str(text)};
    return err_up(e, rocks_write(s->rocks, &w, 1, true, e));
}

/* A writer raises the format of an older store. From 1 to 2 nothing else is to be done: what was
 * written before is read as it is, and `compact` makes it dense; an eqloom that does not know dense
 * records no longer opens the store. */
static enum err_code check_format(struct store *s, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_META, span_str("format"), e);
    if (code == ERR_NOTFOUND && s->secondary_path) {
        /* Not written yet, or lost with a bad file, which fsck will tell. */
        err_clear(e);
        return rocks_is_damaged(s->rocks) || has_records(s->rocks)
                   ? OK
                   : err_fail(e, ERR_NOTFOUND, "the store in %s is empty", s->path);
    }
    if (code == ERR_CORRUPT && s->secondary_path) {
        err_clear(e);
        return OK;
    }
    if (code == ERR_NOTFOUND) {
        err_clear(e);
        return err_up(e, write_format(s, e));
    }
    if (code != OK)
        return err_up(e, code);
    char text[16] = {0};
    memcpy(text, v.bytes.data, v.bytes.len < 15 ? v.bytes.len : 15);
    rocks_value_free(&v);
    char *end;
    long format = strtol(text, &end, 10);
    if (end == text || *end || format < 1)
        return err_fail(e, ERR_CORRUPT, "the store in %s has the format version '%s'", s->path,
                        text);
    if (format > STORE_FORMAT)
        return err_fail(e, ERR_UNSUPPORTED,
                        "the store in %s has format version %ld, written by a newer eqloom; this "
                        "one knows versions up to %d",
                        s->path, format, STORE_FORMAT);
    if (format < STORE_FORMAT && !s->secondary_path)
        return err_up(e, write_format(s, e));
    return OK;
}

static void on_bad_table(void *arg, const char *what)
{
    store_mark_damaged(arg, what, NULL);
}

/* Names, runs and the format lie in small files, which are checked before they are believed;
 * objects and actions are verified when they are read. */
static void check_small_tables(struct store *s, const char *db_path)
{
    struct tables_result r;
    tables_check(&r, db_path, CHECKED_ON_OPENING, on_bad_table, s, NULL);
}

static enum err_code open_writer(struct store *s, const struct store_options *o, struct err *e)
{
    struct buf path = {0};
    enum err_code code = OK;
    struct os_stat st;
    if (!o->create) {
        /* The lock file is there before the database and stays. */
        buf_printf(&path, "%s/lock", o->path);
        if (os_stat(&st, path.data, NULL) != OK) {
            code = err_fail(e, ERR_NOTFOUND, "there is no store in %s", o->path);
            goto out;
        }
    }
    if ((code = err_up(e, os_mkdirs(o->path, e))))
        goto out;
    buf_clear(&path);
    buf_printf(&path, "%s/lock", o->path);
    if ((code = err_up(e, lock_acquire(&s->lock_fd, path.data, o->command, o->wait_s, e))))
        goto out;
    buf_clear(&path);
    buf_printf(&path, "%s/secondary", o->path);
    sweep_secondaries(path.data);
    store_settle_rebuild(o->path);
    buf_clear(&path);
    buf_printf(&path, "%s/db", o->path);
    check_small_tables(s, path.data);
    code = err_up(e, rocks_open(&s->rocks, path.data, NULL, o->create, e));
    if (code == OK && rocks_lost_writes(s->rocks))
        buf_printf(&s->notice,
                   "the log of the store was damaged: %s; the last %llu entries written are lost, "
                   "and what is missing is made again",
                   rocks_log_damage(s->rocks), (unsigned long long)rocks_lost_writes(s->rocks));
    if (code == OK)
        code = err_up(e, store_rebuild_if_damaged(s, e));
out:
    buf_free(&path);
    return code;
}

static enum err_code open_reader(struct store *s, const struct store_options *o, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/db", o->path);
    struct os_stat st;
    enum err_code code;
    if (os_stat(&st, path.data, NULL) != OK)
        code = err_fail(e, ERR_NOTFOUND, "there is no store in %s", o->path);
    else if ((code = err_up(e, make_secondary_path(&s->secondary_path, o->path, e))) == OK)
        code = err_up(e, rocks_open(&s->rocks, path.data, s->secondary_path, false, e));
    buf_free(&path);
    return code;
}

enum err_code store_open(struct store **out, const struct store_options *o, struct err *e)
{
    struct store *s = calloc(1, sizeof *s);
    char *path = s ? strdup(o->path) : NULL;
    if (!path) {
        free(s);
        return err_fail(e, ERR_NOMEM, "out of memory opening %s", o->path);
    }
    s->path = path;
    s->lock_fd = -1;
    s->durable = o->durable;
    pthread_mutex_init(&s->lock, NULL);
    pthread_rwlock_init(&s->commit_lock, NULL);
    dictionaries_init(&s->dictionaries, s);
    enum err_code code = o->read_only ? open_reader(s, o, e) : open_writer(s, o, e);
    if (code == OK)
        code = check_format(s, e);
    if (code == ERR_CORRUPT && s->rocks && !o->read_only) {
        suspect_mark(s->path);
        code = store_rebuild(s, e);
        if (code == OK)
            code = check_format(s, e);
    }
    if (code != OK) {
        store_close(s);
        return err_up(e, code);
    }
    *out = s;
    return OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    if (s->rocks && !s->secondary_path && rocks_is_damaged(s->rocks))
        store_mark_damaged(s, rocks_damage(s->rocks), NULL);
    if (s->rocks && rocks_is_damaged(s->rocks))
        suspect_mark(s->path);
    rocks_close(s->rocks);
    buf_free(&s->notice);
    if (s->secondary_path) {
        remove_directory(s->secondary_path);
        remove_parent(s);
    }
    lock_release(s->lock_fd);
    for (size_t i = 0; i < s->n_coders; i++)
        coder_free(s->coders[i]);
    digest_map_free(&s->condemned);
    dictionaries_free(&s->dictionaries);
    pthread_rwlock_destroy(&s->commit_lock);
    pthread_mutex_destroy(&s->lock);
    free(s->secondary_path);
    free(s->path);
    free(s);
}

const char *store_notice(const struct store *s)
{
    return s->notice.data;
}

bool store_has_writer(const struct store *s)
{
    if (s->lock_fd >= 0)
        return true;
    struct buf path = {0};
    buf_printf(&path, "%s/lock", s->path);
    bool held = lock_is_held(path.data);
    buf_free(&path);
    return held;
}
