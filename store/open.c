/* Opening and closing a store, by its only writer or by a reader; see store.h. */
#include "store/internal.h"
#include "store/marks.h"
#include "store/salvage.h"

#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the writer's lock ---- */

/* flock(2): the kernel releases the lock when the holder dies, however it dies, so a leftover lock
 * file means nothing. The file's content (pid, command, since when, one per line) is only for
 * messages and may be stale or missing. */

/* PATIENCE_MS: how long a reader, or a writer that has not written its name, may hold a lock before
 * that is an error. */
enum { POLL_MS = 50, GLANCE_MS = 5, PATIENCE_MS = 10000 };

static enum err_code fail_busy(int fd, const char *path, struct err *e)
{
    char text[512];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    char *save = NULL;
    const char *pid = strtok_r(text, "\n", &save);
    const char *command = strtok_r(NULL, "\n", &save);
    const char *since = strtok_r(NULL, "\n", &save);
    if (!since)
        return err_fail(e, ERR_BUSY, "the store is held by another process (%s)", path);
    return err_fail(e, ERR_BUSY, "the store is held by pid %s (%s) since %s", pid, command, since);
}

/* Takes the lock for a moment, which may be long on a busy machine: another process that does the
 * same is harmless. */
static bool is_shared(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return false;
    flock(fd, LOCK_UN);
    return true;
}

/* A new holder writes its name after locking. Until then the file may name a writer that was
 * killed. */
static bool is_holder_named(int fd)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    long pid = strtol(text, NULL, 10);
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static void describe_holder(int fd, const char *command)
{
    char text[512], since[32], one_line[300];
    time_t now = time(NULL);
    struct tm tm;
    strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    snprintf(one_line, sizeof one_line, "%s", command && *command ? command : "eqloom");
    for (char *p = one_line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    int n = snprintf(text, sizeof text, "%ld\n%s\n%s\n", (long)getpid(), one_line, since);
    /* Failing to write the description is no reason to refuse the lock. */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return;
}

/* Opens and locks `path`; *out holds the lock until lock_release. ERR_BUSY names the holder, after
 * waiting for wait_s seconds (< 0: for ever). */
static enum err_code lock_acquire(int *out, const char *path, const char *command, double wait_s,
                                  struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_fail(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    uint64_t start = os_monotonic_ns();
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        double waited_s = (double)(os_monotonic_ns() - start) * 1e-9;
        enum err_code code = OK;
        if (errno != EWOULDBLOCK)
            code = err_fail(e, ERR_IO, "cannot lock %s: %s", path, strerror(errno));
        else if (wait_s >= 0 && waited_s >= wait_s &&
                 ((waited_s - wait_s) * 1e3 >= PATIENCE_MS ||
                  (!is_shared(fd) && is_holder_named(fd))))
            code = fail_busy(fd, path, e);
        if (code != OK) {
            close(fd);
            return code;
        }
        long pause_ms = wait_s >= 0 && waited_s >= wait_s ? GLANCE_MS : POLL_MS;
        nanosleep(&(struct timespec){0, pause_ms * 1000000L}, NULL);
    }
    describe_holder(fd, command);
    *out = fd;
    return OK;
}

static void lock_release(int fd)
{
    if (fd < 0)
        return;
    if (ftruncate(fd, 0) != 0) {
        /* Stale content of an unlocked file is harmless. */
    }
    close(fd);
}

/* ---- opening ---- */

enum { CHECKED = 2 << 20 };

static enum err_code stop_at(void *arg, struct span key, struct span value, struct err *e)
{
    return ERR_NOTFOUND;
}

/* Also true if some cannot be read. */
static bool has_records(struct rocks *r)
{
    return rocks_each(r, ROCKS_OBJECTS, span_of("", 0), stop_at, NULL, NULL) != OK;
}

static enum err_code check_format(struct store *s, struct err *e)
{
    struct rocks_value v;
    char text[16] = {0};
    bool reader = rocks_is_read_only(s->rocks);
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_META, span_str("format"), e);
    if (code == ERR_NOTFOUND) {
        err_clear(e);
        if (!reader) {
            snprintf(text, sizeof text, "%d", STORE_FORMAT);
            struct rocks_write w = {ROCKS_META, false, span_str("format"), span_str(text)};
            return err_up(e, rocks_write(s->rocks, &w, 1, true, e));
        }
        /* Not written yet, or lost with a bad file, which fsck reports. */
        return rocks_damage(s->rocks) || has_records(s->rocks)
                   ? OK
                   : err_fail(e, ERR_NOTFOUND, "the store in %s is empty", s->path);
    }
    if (code == ERR_CORRUPT && reader) {
        err_clear(e);
        return OK;
    }
    if (code)
        return err_up(e, code);
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

static enum err_code count_bytes(void *arg, struct span key, struct span value, struct err *e)
{
    size_t *bytes = arg;
    *bytes += key.len + value.len;
    return *bytes < CHECKED ? OK : ERR_NOTFOUND;
}

/* Reads everything but objects to the end, up to a size limit: rocks.c notes what cannot be read.
 * Objects are verified whenever they are read. */
static void check_small_families(struct store *s)
{
    static const enum rocks_family small[] = {ROCKS_REFS, ROCKS_FILES,   ROCKS_RUNS,
                                              ROCKS_META, ROCKS_ACTIONS, ROCKS_TRACES};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        rocks_each(s->rocks, small[i], span_of("", 0), count_bytes, &bytes, NULL);
}

/* Symbolic links and pipes in an untrusted store could redirect reads and writes. A writer that
 * holds the lock also removes what killed ones left: half-written files, and packs for a remote. */
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
        else if (tidy && ((dot && strcmp(dot, ".tmp") == 0) || strcmp(name, "outgoing.pack") == 0))
            unlinkat(dirfd(d), name, 0);
    }
    if (d)
        closedir(d);
    return code;
}

/* Says what the log has lost; marks the store before the loss becomes final. */
static void tell_of_loss(struct store *s)
{
    if (!rocks_loss(s->rocks))
        return;
    mark_suspect(s->path);
    buf_printf(&s->gone, "the log: %s\n", rocks_loss(s->rocks));
    buf_printf(&s->notice, "the log of the store was damaged: %s; what is missing is made again",
               rocks_loss(s->rocks));
}

static enum err_code open_database(struct store *s, const char *db, const struct store_options *o,
                                   struct err *e)
{
    struct arena a = {0};
    struct err bad = {0};
    enum err_code code = rocks_open(&s->rocks, db, o->create ? ROCKS_CREATE : ROCKS_WRITE, &bad);
    const char *why = code == ERR_CORRUPT ? bad.message : mark_damage(&a, s->path);
    if (code == OK) {
        tell_of_loss(s);
        check_small_families(s); /* before anything is noted of files that have changed */
        why = why ? why : rocks_damage(s->rocks);
    }
    if (why && (code == OK || code == ERR_CORRUPT))
        code = err_up(e, store_salvage(s, why, e));
    else if (code == OK)
        rocks_settle(s->rocks);
    else if (e)
        *e = bad;
    if (code == OK && o->durable)
        code = rocks_sync_logs(s->rocks, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code open_writer(struct store *s, const struct store_options *o, struct err *e)
{
    struct arena a = {0};
    const char *lock = arena_printf(&a, "%s/lock", o->path);
    const char *db = arena_printf(&a, "%s/db", o->path);
    enum err_code code = OK;
    /* The lock file is created before the database and stays. */
    if (!o->create && access(lock, F_OK) != 0 && errno != EACCES)
        code = err_fail(e, ERR_NOTFOUND, "there is no store in %s", o->path);
    if (code == OK)
        code = os_mkdirs(o->path, e);
    if (code == OK)
        code = lock_acquire(&s->lock_fd, lock, o->command, o->wait_s, e);
    if (code == OK) {
        salvage_settle(o->path);
        code = check_files(o->path, true, e);
        if (code == OK)
            code = check_files(db, true, e);
    }
    if (code == OK)
        code = open_database(s, db, o, e);
    arena_free(&a);
    return err_up(e, code);
}

bool store_has_writer(const struct store *s)
{
    if (s->lock_fd >= 0)
        return true;
    struct arena a = {0};
    int fd = open(arena_printf(&a, "%s/lock", s->path), O_RDONLY | O_CLOEXEC);
    bool held = fd >= 0 && !is_shared(fd);
    if (fd >= 0)
        close(fd);
    arena_free(&a);
    return held;
}

/* Detects any change that a writer may have made to the database's files. */
static bool has_moved(const char *db, const struct os_stat *before)
{
    struct os_stat now;
    return os_stat(&now, db, NULL) != OK || now.changed_ns != before->changed_ns;
}

/* TRIES: until what cannot be read is damaged, beside a writer; STILL: if nothing has changed
 * meanwhile. */
enum { TRIES = 14, STILL = 3, WAIT_MS = 10, WAIT_MAX_MS = 5000 };

/* Waits for a moment at which nobody writes. Returns a file descriptor that keeps it so until it is
 * closed: a writer has patience with readers. -1: there was none. */
static int hold_off_writers(const struct store *s, unsigned wait_ms)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lock", s->path);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    uint64_t end = os_monotonic_ns() + (uint64_t)wait_ms * 1000000;
    bool held = false;
    while (fd >= 0 && !(held = flock(fd, LOCK_SH | LOCK_NB) == 0) && os_monotonic_ns() < end)
        nanosleep(&(struct timespec){0, 500000}, NULL);
    if (fd >= 0 && !held)
        close(fd);
    return held ? fd : -1;
}

/* RocksDB reads the list of files, then the files: a writer may have replaced them in between. So
 * after two failures a reader waits, longer each time, for the end of a writer. If there is none,
 * or the files are unchanged, what cannot be read is damaged. */
static enum err_code open_reader(struct store *s, const struct store_options *o, struct err *e)
{
    struct buf db = {0};
    struct os_stat before = {0};
    enum err_code code;
    int held = -1;
    unsigned wait_ms = WAIT_MS, still = 0;
    buf_printf(&db, "%s/db", o->path);
    for (int i = 0;; i++) {
        code = os_stat(&before, db.data, e);
        if (code == ERR_NOTFOUND) {
            err_clear(e);
            err_fail(e, code, "there is no store in %s", o->path);
        } else if (!code && !(code = check_files(db.data, false, e)))
            code = rocks_open(&s->rocks, db.data, ROCKS_READ, e);
        if ((code != ERR_CORRUPT && code != ERR_IO) || i == TRIES || held >= 0)
            break;
        still += !has_moved(db.data, &before);
        if (still && (still == STILL || !store_has_writer(s)))
            break;
        if (i)
            held = hold_off_writers(s, wait_ms);
        wait_ms = wait_ms < WAIT_MAX_MS ? 2 * wait_ms : WAIT_MAX_MS;
        err_clear(e);
    }
    if (held >= 0)
        close(held);
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
        code = store_salvage(s, "its format version cannot be read", e);
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
    const char *damage = s->rocks ? rocks_damage(s->rocks) : NULL;
    if (damage && !rocks_is_read_only(s->rocks))
        mark_damaged(s->path, damage);
    if (damage)
        mark_suspect(s->path);
    rocks_close(s->rocks);
    buf_free(&s->notice);
    buf_free(&s->gone);
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

const char *store_trouble(struct store *s)
{
    if (!s->rocks || !rocks_is_read_only(s->rocks))
        return NULL;
    const char *found = rocks_trouble(s->rocks);
    pthread_mutex_lock(&s->lock); /* the message never changes again */
    if (!found && s->trouble.code)
        found = s->trouble.message;
    pthread_mutex_unlock(&s->lock);
    return found;
}

const char *store_notice(const struct store *s)
{
    return s->notice.data;
}
