/* Opening, closing, reading; see store.h.
 *
 * Invariant: store_get returns the bytes that the id stands for or fails; bad bytes go into
 * quarantine (meta family), which makes the record absent, so that it is made again. */
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
#include <sys/stat.h>
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
        char *slash = strrchr(s->secondary_path, '/');
        *slash = 0; /* .eqloom/secondary, once the last reader has gone */
        rmdir(s->secondary_path);
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

enum err_code store_refresh(struct store *s, struct err *e)
{
    pthread_mutex_lock(&s->lock);
    digest_map_free(&s->condemned); /* the writer may have made them again */
    s->any_condemned = false;
    pthread_mutex_unlock(&s->lock);
    return err_up(e, rocks_refresh(s->rocks, e));
}

struct coder *store_coder_take(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    struct coder *c = s->n_coders ? s->coders[--s->n_coders] : NULL;
    pthread_mutex_unlock(&s->lock);
    if (!c) {
        c = coder_new();
        coder_set_dictionaries(c, dictionaries_for_coder(&s->dictionaries));
    }
    return c;
}

void store_coder_give(struct store *s, struct coder *c)
{
    pthread_mutex_lock(&s->lock);
    if (s->n_coders < sizeof s->coders / sizeof *s->coders) {
        s->coders[s->n_coders++] = c;
        c = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    coder_free(c);
}

enum err_code err_name_record(struct err *e, enum err_code code, const struct digest *id)
{
    char hex[DIGEST_HEX];
    if (!e)
        return code;
    struct err inner = *e;
    err_clear(e);
    return err_fail(e, code, "record %s: %.400s", digest_hex(hex, id), inner.message);
}

static bool is_condemned(struct store *s, const struct digest *id)
{
    pthread_mutex_lock(&s->lock);
    uint64_t *value = s->any_condemned ? digest_map_get(&s->condemned, id) : NULL;
    bool condemned = value && *value;
    pthread_mutex_unlock(&s->lock);
    return condemned;
}

static void condemn(struct store *s, const struct digest *id)
{
    pthread_mutex_lock(&s->lock);
    *digest_map_put(&s->condemned, id, 1, NULL) = 1;
    s->any_condemned = true;
    pthread_mutex_unlock(&s->lock);
}

void store_pardon(struct store *s, const struct digest *ids, size_t n)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; s->any_condemned && i < n; i++) {
        uint64_t *value = digest_map_get(&s->condemned, &ids[i]);
        if (value)
            *value = 0;
    }
    pthread_mutex_unlock(&s->lock);
}

/* A block that fails its checksum concerns more than the record asked for. */
static enum err_code get_object(struct rocks_value *v, struct store *s, const struct digest *id,
                                struct err *e)
{
    enum err_code code = rocks_get(v, s->rocks, ROCKS_OBJECTS, digest_span(id), e);
    if (code == ERR_CORRUPT && !rocks_is_secondary(s->rocks))
        store_mark_damaged(s, rocks_damage(s->rocks), NULL);
    return code;
}

/* ERR_NOTFOUND, ERR_CORRUPT, ... without the record's name. */
static enum err_code read_verified(struct record *out, struct store *s, const struct digest *id,
                                   struct arena *a, struct err *e)
{
    struct rocks_value v = {0};
    bool ahead = s->overlay && store_batch_find(&v.bytes, s->overlay, id);
    enum err_code code = ahead ? OK : get_object(&v, s, id, e);
    if (code != OK)
        return err_up(e, code);
    struct coder *c = store_coder_take(s);
    code = err_up(e, envelope_verify(out, c, id, v.bytes, a, e));
    store_coder_give(s, c);
    if (!ahead)
        rocks_value_free(&v);
    return code;
}

/* Moves what lies under the id into meta, if it can be read at all. */
enum err_code store_remove_bad(struct store *s, const struct digest *id, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_OBJECTS, digest_span(id), NULL);
    uint8_t key[sizeof QUARANTINE_PREFIX - 1 + DIGEST_SIZE];
    memcpy(key, QUARANTINE_PREFIX, sizeof QUARANTINE_PREFIX - 1);
    memcpy(key + sizeof QUARANTINE_PREFIX - 1, id->bytes, DIGEST_SIZE);
    struct rocks_write writes[] = {
        {ROCKS_META, false, span_of(key, sizeof key), code == OK ? v.bytes : span_str("")},
        {ROCKS_OBJECTS, true, digest_span(id), {0}},
    };
    code = rocks_write(s->rocks, writes, 2, true, e);
    rocks_value_free(&v);
    return err_up(e, code);
}

void store_quarantine(struct store *s, const struct digest *id)
{
    suspect_mark(s->path);
    if (rocks_is_secondary(s->rocks)) {
        condemn(s, id);
        return;
    }
    pthread_rwlock_wrlock(&s->commit_lock);
    struct arena a = {0};
    struct record r;
    /* Unless somebody was faster. */
    if (read_verified(&r, s, id, &a, NULL) == ERR_CORRUPT && store_remove_bad(s, id, NULL) != OK)
        condemn(s, id);
    arena_free(&a);
    pthread_rwlock_unlock(&s->commit_lock);
}

enum err_code store_get(struct record *out, struct store *s, const struct digest *id,
                        struct arena *a, struct err *e)
{
    if (is_condemned(s, id)) {
        err_fail(e, ERR_CORRUPT, "in quarantine");
        return err_name_record(e, ERR_CORRUPT, id);
    }
    enum err_code code = read_verified(out, s, id, a, e);
    if (code == OK)
        return OK;
    if (code == ERR_CORRUPT)
        store_quarantine(s, id);
    return err_name_record(e, code, id);
}

enum err_code store_get_message(ProtobufCMessage **out, struct store *s, const struct digest *id,
                                enum record_kind kind, struct arena *a, struct err *e)
{
    struct record r;
    enum err_code code = store_get(&r, s, id, a, e);
    if (code != OK)
        return err_up(e, code);
    if (r.kind != kind) {
        char hex[DIGEST_HEX];
        return err_fail(e, ERR_CORRUPT, "record %s is of kind %s where %s is needed",
                        digest_hex(hex, id), kind_info(r.kind)->name, kind_info(kind)->name);
    }
    code = canonical_unpack(out, a, kind_info(kind)->descriptor, r.payload, e);
    return code == OK ? OK : err_name_record(e, code, id);
}

bool store_has(struct store *s, const struct digest *id)
{
    if (is_condemned(s, id))
        return false;
    struct rocks_value v;
    if (s->overlay && store_batch_find(&v.bytes, s->overlay, id))
        return true;
    if (get_object(&v, s, id, NULL) != OK)
        return false;
    rocks_value_free(&v);
    return true;
}

void store_overlay(struct store *s, const struct store_batch *b)
{
    s->overlay = b;
}

enum err_code store_read(struct span *out, struct store *s, enum rocks_family family,
                         struct span key, struct arena *a, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, family, key, e);
    if (code != OK)
        return err_up(e, code);
    *out = span_of(arena_memdup(a, v.bytes.data, v.bytes.len), v.bytes.len);
    rocks_value_free(&v);
    return OK;
}
