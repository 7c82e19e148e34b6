/* Opening and closing a store, by its one writer or by a reader; see store.h. */
#include "store/internal.h"
#include "store/lock.h"
#include "store/marks.h"
#include "store/salvage.h"

#include "base/os.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 50, PAUSE_NS = 20000000, CHECKED = 2 << 20 };

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

static enum err_code check_format(struct store *s, struct err *e)
{
    struct rocks_value v;
    bool reader = rocks_is_read_only(s->rocks);
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_META, span_str("format"), e);
    if (code == ERR_NOTFOUND) {
        err_clear(e);
        if (!reader)
            return err_up(e, write_format(s, e));
        /* Not written yet, or lost with a bad file, which fsck reports. */
        return rocks_is_damaged(s->rocks) || has_records(s->rocks)
                   ? OK
                   : err_fail(e, ERR_NOTFOUND, "the store in %s is empty", s->path);
    }
    if (code == ERR_CORRUPT && reader) {
        err_clear(e);
        return OK;
    }
    if (code)
        return err_up(e, code);
    char text[16] = {0};
    memcpy(text, v.bytes.data, v.bytes.len < 15 ? v.bytes.len : 15);
    rocks_value_free(&v);
    char *end;
    long format = strtol(text, &end, 10);
    if (end == text || *end)
        return err_fail(e, ERR_CORRUPT, "the store in %s has the format version '%s'", s->path,
                        text);
    return format == STORE_FORMAT
               ? OK
               : err_fail(e, ERR_UNSUPPORTED,
                          "the store in %s has format version %ld; this eqloom reads version %d",
                          s->path, format, STORE_FORMAT);
}

/* Everything but objects is read to the end, up to so many bytes: rocks.c takes note of what cannot
 * be read. Objects are verified whenever they are read. */
static void check_small_families(struct store *s)
{
    static const enum rocks_family small[] = {ROCKS_REFS, ROCKS_FILES,   ROCKS_RUNS,
                                              ROCKS_META, ROCKS_ACTIONS, ROCKS_TRACES};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        struct rocks_iter *it = rocks_iter_new(s->rocks, small[i]);
        for (rocks_iter_seek(it, span_of("", 0)); rocks_iter_valid(it) && bytes < CHECKED;
             rocks_iter_next(it))
            bytes += rocks_iter_key(it).len + rocks_iter_value(it).len;
        rocks_iter_error(it, NULL);
        rocks_iter_free(it);
    }
}

/* A store from elsewhere could lead reads and writes out of itself, or into a pipe. Writers, when
 * they have the lock, remove what files were left half written. */
static enum err_code check_files(const char *path, bool tidy, struct err *e)
{
    DIR *d = opendir(path);
    enum err_code code = OK;
    struct stat st;
    for (struct dirent *entry; d && !code && (entry = readdir(d));) {
        const char *name = entry->d_name, *dot = strrchr(name, '.');
        if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode) &&
            !S_ISDIR(st.st_mode))
            code = err_fail(e, ERR_INPUT, "%s/%s is %s: a store has none", path, name,
                            S_ISLNK(st.st_mode) ? "a link" : "a pipe, a socket or a device");
        else if (tidy && dot && strcmp(dot, ".tmp") == 0)
            unlinkat(dirfd(d), name, 0);
    }
    if (d)
        closedir(d);
    return code;
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
    salvage_settle(o->path);
    buf_clear(&path);
    buf_printf(&path, "%s/db", o->path);
    if ((code = err_up(e, check_files(path.data, true, e))))
        goto out;
    code = err_up(e, rocks_open(&s->rocks, path.data, o->create ? ROCKS_CREATE : ROCKS_WRITE, e));
    if (code == OK && rocks_lost_writes(s->rocks))
        buf_printf(&s->notice,
                   "the log of the store was damaged: the last %llu entries acknowledged are lost; "
                   "what is missing is made again",
                   (unsigned long long)rocks_lost_writes(s->rocks));
    if (code == OK) {
        check_small_families(s);
        code = err_up(e, salvage_if_damaged(s, e));
    }
out:
    buf_free(&path);
    return code;
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

/* Anything that a writer may do to the files of the database since. */
static bool has_moved(const char *db, const struct os_stat *before)
{
    struct os_stat now;
    return os_stat(&now, db, NULL) != OK || now.changed_ns != before->changed_ns;
}

/* RocksDB reads the list of files, then the files: a writer may have replaced them in between.
 * Without one, and with the same files as before, what cannot be read is damaged. */
static enum err_code open_reader(struct store *s, const struct store_options *o, struct err *e)
{
    struct buf db = {0};
    struct os_stat before;
    enum err_code code;
    buf_printf(&db, "%s/db", o->path);
    for (int i = 0;; i++) {
        if (os_stat(&before, db.data, NULL) != OK)
            code = err_fail(e, ERR_NOTFOUND, "there is no store in %s", o->path);
        else if (!(code = check_files(db.data, false, e)))
            code = rocks_open(&s->rocks, db.data, ROCKS_READ, e);
        if ((code != ERR_CORRUPT && code != ERR_IO) || i == TRIES ||
            (!store_has_writer(s) && !has_moved(db.data, &before)))
            break;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        err_clear(e);
    }
    if (code == ERR_CORRUPT)
        mark_suspect(s->path);
    buf_free(&db);
    return err_up(e, code);
}

enum err_code store_open(struct store **out, const struct store_options *o, struct err *e)
{
    struct store *s = must_calloc(1, sizeof *s);
    s->path = strcpy(must_calloc(strlen(o->path) + 1, 1), o->path);
    s->lock_fd = -1;
    s->durable = o->durable;
    pthread_mutex_init(&s->lock, NULL);
    pthread_rwlock_init(&s->commit_lock, NULL);
    dictionaries_init(&s->dictionaries, s, !o->read_only);
    enum err_code code = check_files(s->path, false, e);
    if (code == OK)
        code = o->read_only ? open_reader(s, o, e) : open_writer(s, o, e);
    if (code == OK)
        code = check_format(s, e);
    if (code == ERR_CORRUPT && s->rocks && !o->read_only) {
        mark_suspect(s->path);
        code = store_salvage(s, e);
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
    if (s->rocks && !rocks_is_read_only(s->rocks) && rocks_is_damaged(s->rocks))
        mark_damaged(s->path, rocks_damage(s->rocks));
    if (s->rocks && rocks_is_damaged(s->rocks))
        mark_suspect(s->path);
    rocks_close(s->rocks);
    buf_free(&s->notice);
    lock_release(s->lock_fd);
    for (size_t i = 0; i < s->n_coders; i++)
        coder_free(s->coders[i]);
    digest_map_free(&s->bad);
    dictionaries_free(&s->dictionaries);
    pthread_rwlock_destroy(&s->commit_lock);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s);
}

const char *store_notice(const struct store *s)
{
    return s->notice.data;
}
