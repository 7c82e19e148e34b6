/* Records, batches, names, the lock, readers, quarantine: through the public interface. */
#include "tests/store/fixture.h"

#include "base/buf.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

STORE_TEST(put_get)
{
    struct rng r = rng_new(3, 3);
    struct store_batch *b = store_batch_new(p->s);
    struct digest x = put_text(b, "x"), big = put_noise(b, &r, 300000);
    assert_int_equal(store_batch_count(b), 2);
    assert_false(store_has(p->s, &x)); /* not before the commit */
    commit(b);
    assert_int_equal(store_batch_count(b), 0);
    for (int again = 0; again < 2; again++) {
        struct record record;
        ProtobufCMessage *m;
        assert_true(store_has(p->s, &x) && store_has(p->s, &big));
        MUST(store_get_message(&m, p->s, &x, KIND_EXPR, &p->a, &err));
        assert_string_equal(((Eqloom__Expr *)m)->prefix, "x");
        MUST(store_get(&record, p->s, &big, &p->a, &err));
        assert_int_equal(record.kind, KIND_CHUNK);
        store_batch_free(b);
        test_store_reopen(p);
        b = store_batch_new(p->s);
    }
    ProtobufCMessage *m;
    assert_int_equal(store_get_message(&m, p->s, &x, KIND_RULE, &p->a, &err), ERR_CORRUPT);
    assert_non_null(strstr(err.message, "is of kind expr where rule is needed"));
    struct digest nothing = {{1}};
    struct record record;
    assert_int_equal(store_get(&record, p->s, &nothing, &p->a, &err), ERR_NOTFOUND);
    assert_non_null(strstr(err.message, "record 0100"));
    store_batch_free(b);
}

STORE_TEST(batches_deduplicate)
{
    struct store_batch *b = store_batch_new(p->s), *c = store_batch_new(p->s);
    put_text(b, "x");
    put_text(b, "x");
    assert_int_equal(store_batch_count(b), 1);
    put_text(c, "x");
    put_text(c, "y");
    store_batch_append(b, c);
    assert_int_equal(store_batch_count(b), 2);
    assert_int_equal(store_batch_count(c), 0);
    commit(b);
    put_text(b, "y");
    assert_int_equal(store_batch_count(b), 0);
    store_batch_free(b);
    store_batch_free(c);
}

/* What is expected to be stored is not looked for, so that the caller has to be right. */
STORE_TEST(expected_records)
{
    struct store_batch *b = store_batch_new(p->s);
    struct digest_map stored = {0};
    struct digest x = put_text(b, "x");
    store_batch_free(b);
    b = store_batch_new(p->s);
    digest_map_put(&stored, &x, 0, NULL);
    store_batch_expect(b, &stored);
    put_text(b, "x");
    put_text(b, "y");
    assert_int_equal(store_batch_count(b), 1);
    store_batch_expect(b, NULL);
    put_text(b, "x");
    assert_int_equal(store_batch_count(b), 2);
    store_batch_free(b);
    digest_map_free(&stored);
}

STORE_TEST(batch_refuses_what_is_not_canonical)
{
    struct digest id;
    struct store_batch *b = store_batch_new(p->s);
    assert_int_equal(store_batch_put(&id, b, KIND_EXPR, span_of("\x0a\0", 2), &err), ERR_CORRUPT);
    assert_int_equal(store_batch_count(b), 0);
    store_batch_free(b);
}

STORE_TEST(actions)
{
    struct span out;
    struct store_batch *b = store_batch_new(p->s);
    struct digest key = action_key(span_str("p"));
    assert_int_equal(store_action(&out, p->s, &key, &p->a, &err), ERR_NOTFOUND);
    MUST(store_batch_action(b, &key, span_str("value"), &err));
    commit(b);
    MUST(store_action(&out, p->s, &key, &p->a, &err));
    assert_true(span_equal(out, span_str("value")));
    store_batch_free(b);
}

static enum err_code list_name(void *arg, const char *name, const struct digest *id, struct err *e)
{
    buf_printf(arg, "%s ", name);
    return OK;
}

static enum err_code list_run(void *arg, const char *run, struct span value, struct err *e)
{
    buf_printf(arg, "%s=%.*s ", run, (int)value.len, (const char *)value.data);
    return OK;
}

STORE_TEST(refs)
{
    struct buf list = {0};
    struct store_batch *b = store_batch_new(p->s);
    struct digest x = put_text(b, "x"), y = put_text(b, "y"), got;
    MUST(store_batch_ref(b, "job/model@pool=mean", &x, &err));
    MUST(store_batch_ref(b, "job/a.html", &x, &err));
    MUST(store_batch_ref(b, "job2/a", &y, &err));
    static const char *const bad[] = {"",    "/",  "a/",     "/a",      "a//b",
                                      "a b", "..", "a/../b", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(store_batch_ref(b, bad[i], &x, &err), ERR_INPUT);
    commit(b);
    MUST(store_ref(&got, p->s, "job2/a", &err));
    assert_true(digest_equal(&got, &y));
    assert_int_equal(store_ref(&got, p->s, "job/b", &err), ERR_NOTFOUND);
    assert_string_equal(err.message, "there is no ref 'job/b'");
    MUST(store_each_ref(p->s, "job/", list_name, &list, &err));
    assert_string_equal(list.data, "job/a.html job/model@pool=mean ");
    MUST(store_batch_ref_delete(b, "job/a.html", &err));
    MUST(store_batch_ref(b, "job2/a", &x, &err));
    commit(b);
    buf_clear(&list);
    MUST(store_each_ref(p->s, "", list_name, &list, &err));
    assert_string_equal(list.data, "job/model@pool=mean job2/a ");
    MUST(store_ref(&got, p->s, "job2/a", &err));
    assert_true(digest_equal(&got, &x));
    buf_free(&list);
    store_batch_free(b);
}

STORE_TEST(runs_and_sources)
{
    struct buf list = {0};
    struct span out;
    struct store_batch *b = store_batch_new(p->s);
    static const char *const runs[] = {"q/1", "q/2", "q/10", "qq/7", "a/3", "dir/q/4"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        MUST(store_batch_run(b, runs[i], span_str("old"), &err));
    MUST(store_batch_run(b, "q/10", span_str("new"), &err));
    assert_int_equal(store_batch_run(b, "q", span_str("x"), &err), ERR_INPUT);
    assert_int_equal(store_batch_run(b, "q/x", span_str("x"), &err), ERR_INPUT);
    MUST(store_batch_source(b, "/tmp/x.rules", span_str("stat"), &err));
    commit(b);
    MUST(store_each_run(p->s, "q", list_run, &list, &err));
    assert_string_equal(list.data, "q/10=new q/2=old q/1=old ");
    buf_clear(&list);
    MUST(store_each_run(p->s, NULL, list_run, &list, &err));
    assert_string_equal(list.data, "qq/7=old q/10=new q/2=old q/1=old dir/q/4=old a/3=old ");
    MUST(store_run(&out, p->s, "q/10", &p->a, &err));
    assert_true(span_equal(out, span_str("new")));
    MUST(store_source(&out, p->s, "/tmp/x.rules", &p->a, &err));
    assert_true(span_equal(out, span_str("stat")));
    assert_int_equal(store_source(&out, p->s, "/tmp/y.rules", &p->a, &err), ERR_NOTFOUND);
    buf_free(&list);
    store_batch_free(b);
}

static enum err_code collect_id(void *arg, const struct digest *id, enum record_kind kind,
                                uint64_t stored, struct err *e)
{
    char hex[DIGEST_HEX];
    assert_int_equal(kind, KIND_EXPR);
    assert_true(stored > 16);
    buf_printf(arg, "%s\n", digest_hex(hex, id));
    return OK;
}

STORE_TEST(prefixes)
{
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = 0; i < 3000; i++)
        put_number(b, i);
    commit(b);
    struct buf list = {0};
    MUST(store_each_record(p->s, collect_id, &list, &err));
    assert_int_equal(list.len, 3000 * 65);
    unsigned ambiguous = 0;
    for (size_t i = 0; i < 3000; i += 7) {
        const char *hex = list.data + 65 * i;
        assert_true(i == 0 || memcmp(hex - 65, hex, 64) < 0); /* in id order */
        char prefix[65];
        for (size_t n = 4; n <= 64; n += n < 12 ? 1 : 13) {
            size_t count = 0;
            for (size_t k = i > 40 ? i - 40 : 0; k < i + 40 && k < 3000; k++)
                count += memcmp(list.data + 65 * k, hex, n) == 0;
            snprintf(prefix, n + 1, "%s", hex);
            struct digest ids[2];
            size_t found;
            enum err_code code = store_resolve_prefix(ids, &found, 2, p->s, prefix, &err);
            assert_int_equal(code, count == 1 ? OK : ERR_AMBIGUOUS);
            assert_int_equal(found, count < 2 ? count : 2);
            ambiguous += count > 1;
            if (count == 1) {
                char got[DIGEST_HEX];
                assert_memory_equal(digest_hex(got, &ids[0]), hex, 64);
            }
        }
    }
    assert_true(ambiguous > 10);
    struct digest ids[2];
    size_t n;
    assert_int_equal(store_resolve_prefix(ids, &n, 2, p->s, "abc", &err), ERR_INPUT);
    assert_int_equal(store_resolve_prefix(ids, &n, 2, p->s, "abcx", &err), ERR_INPUT);
    char other[65];
    snprintf(other, 65, "%s", list.data);
    other[40] = other[40] == '0' ? '1' : '0';
    assert_int_equal(store_resolve_prefix(ids, &n, 2, p->s, other, &err), ERR_NOTFOUND);
    buf_free(&list);
    store_batch_free(b);
}

STORE_TEST(second_writer)
{
    struct store *second = NULL;
    struct store_options o = {.path = p->path, .create = true, .command = "another"};
    char start[64];
    snprintf(start, sizeof start, "the store is held by pid %ld (a test) since 20", (long)getpid());
    assert_int_equal(store_open(&second, &o, &err), ERR_BUSY);
    assert_memory_equal(err.message, start, strlen(start));
    uint64_t before = os_monotonic_ns();
    o.wait_s = 0.2;
    assert_int_equal(store_open(&second, &o, &err), ERR_BUSY);
    assert_true(os_monotonic_ns() - before >= 200000000u);
    store_close(p->s);
    MUST(store_open(&p->s, &o, &err));
}

static void *look_away_soon(void *fd)
{
    usleep(200000);
    flock(*(int *)fd, LOCK_UN);
    return NULL;
}

/* Whoever looks whether there is a writer has the lock, shared, for a moment. Meanwhile the file
 * may say what a writer wrote that was killed, and somebody else may have its number by now. */
STORE_TEST(a_glance_is_no_writer)
{
    struct store_options o = {.path = p->path};
    char path[100];
    pthread_t glance;
    store_close(p->s);
    snprintf(path, sizeof path, "%s/lock", p->path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(write(fd, "1\nanother\n2024-05-01 10:00:00\n", 30), 30);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    assert_int_equal(pthread_create(&glance, NULL, look_away_soon, &fd), 0);
    MUST(store_open(&p->s, &o, &err));
    pthread_join(glance, NULL);
    close(fd);
}

STORE_TEST(lock_of_a_dead_writer)
{
    store_close(p->s);
    pid_t child = fork();
    if (child == 0) {
        struct store_options o = {.path = p->path, .create = true};
        struct store *s;
        if (store_open(&s, &o, NULL) == OK)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    p->s = open_store(p->path);
}

STORE_TEST(readers)
{
    struct record record;
    struct rng r = rng_new(4, 4);
    struct store_batch *b = store_batch_new(p->s);
    struct digest x = put_text(b, "x"), big = put_noise(b, &r, 200000);
    commit(b);
    struct store *reader = open_reader(p->path), *second = open_reader(p->path);
    MUST(store_get(&record, reader, &x, &p->a, &err));
    MUST(store_get(&record, second, &big, &p->a, &err));
    /* A later reader sees what was committed before it. */
    for (unsigned i = 0; i < 300; i++) {
        struct digest id = i % 10 ? put_number(b, i) : put_noise(b, &r, 400000);
        MUST(store_batch_ref(b, "latest", &id, &err));
        commit(b);
        struct digest latest;
        if (i % 7 == 0) {
            store_close(reader);
            reader = open_reader(p->path);
            MUST(store_ref(&latest, reader, "latest", &err));
            assert_true(digest_equal(&latest, &id));
            MUST(store_get(&record, reader, &id, &p->a, &err));
            arena_reset(&p->a);
        }
    }
    struct store_batch *no = store_batch_new(reader);
    put_text(no, "z");
    assert_int_equal(store_batch_commit(no, &err), ERR_IO);
    store_batch_free(no);
    store_close(reader);
    MUST(store_get(&record, second, &big, &p->a, &err));
    store_close(second);
    store_batch_free(b);
}

STORE_TEST(no_store)
{
    struct store *s = NULL;
    char path[100];
    snprintf(path, sizeof path, "%s/nothing", p->path);
    struct store_options reader = {.path = path, .read_only = true}, writer = {.path = path};
    assert_int_equal(store_open(&s, &reader, &err), ERR_NOTFOUND);
    assert_int_equal(store_open(&s, &writer, &err), ERR_NOTFOUND);
    assert_int_equal(access(path, F_OK), -1);
}

enum { KILLED_BATCH = 20 };

/* The writer that is to be killed: a process of its own, since RocksDB's threads are not there
 * after a mere fork. Writes the number of each batch committed into `fd`. */
static int write_for_ever(const char *path, unsigned round, unsigned batch, int fd)
{
    struct store_options o = {.path = path, .create = true};
    struct store *s;
    if (store_open(&s, &o, NULL) != OK)
        return 1;
    struct rng noise = rng_new(5, round);
    struct store_batch *b = store_batch_new(s);
    for (;; batch++) {
        for (unsigned i = 0; i < KILLED_BATCH; i++)
            put_number(b, batch * KILLED_BATCH + i);
        struct digest chunk = put_noise(b, &noise, 100000);
        char name[40];
        snprintf(name, sizeof name, "batch/%u", batch);
        if (store_batch_ref(b, name, &chunk, NULL) || store_batch_commit(b, NULL) ||
            write(fd, &batch, sizeof batch) != sizeof batch)
            return 1;
    }
}

static pid_t start_writer(int *fd, const char *path, unsigned round, unsigned batch)
{
    int pipes[2];
    char of_round[16], of_batch[16], of_fd[16];
    assert_int_equal(pipe(pipes), 0);
    snprintf(of_round, sizeof of_round, "%u", round);
    snprintf(of_batch, sizeof of_batch, "%u", batch);
    snprintf(of_fd, sizeof of_fd, "%d", pipes[1]);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_store", "writer", path, of_round, of_batch, of_fd, NULL);
        _exit(1);
    }
    close(pipes[1]);
    *fd = pipes[0];
    return child;
}

/* A batch is there as a whole or not at all, whenever the writer dies; what it was told is
 * committed stays. It is killed while it opens the store, or some time after a number of commits,
 * which a busy machine only makes later. */
STORE_TEST(killed_writer)
{
    struct rng r = rng_new(test_seed(1), 9);
    store_close(p->s);
    p->s = NULL;
    enum { BATCH = KILLED_BATCH };
    unsigned acknowledged = 0;
    for (unsigned round = 0; round < 12 || acknowledged <= 20; round++) {
        int fd;
        unsigned batch;
        pid_t child = start_writer(&fd, p->path, round, acknowledged);
        for (uint64_t n = rng_below(&r, 4) ? 1 + rng_below(&r, 6) : 0; n; n--) {
            assert_int_equal(read(fd, &batch, sizeof batch), sizeof batch);
            acknowledged = batch + 1;
        }
        usleep((useconds_t)rng_below(&r, 30000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(fd, &batch, sizeof batch) == sizeof batch)
            acknowledged = batch + 1;
        close(fd);

        p->s = open_store(p->path);
        struct arena a = {0};
        struct record record;
        struct store_batch *ids = store_batch_new(p->s); /* for computing ids only */
        for (unsigned k = 0; k <= acknowledged; k++) {
            struct digest id;
            char name[40];
            snprintf(name, sizeof name, "batch/%u", k);
            enum err_code code = store_ref(&id, p->s, name, &err);
            assert_true(code == OK || k == acknowledged);
            if (code == OK)
                MUST(store_get(&record, p->s, &id, &a, &err));
            for (unsigned i = 0; i < BATCH; i++) {
                id = put_number(ids, k * BATCH + i);
                assert_int_equal(store_get(&record, p->s, &id, &a, &err),
                                 code == OK ? OK : ERR_NOTFOUND);
            }
            if (code == OK && k == acknowledged)
                acknowledged++; /* committed, killed before it could say so */
            arena_reset(&a);
        }
        store_batch_free(ids);
        arena_free(&a);
        store_close(p->s);
        p->s = NULL;
    }
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "writer") == 0)
        return write_for_ever(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]),
                              atoi(argv[5]));
    return unit_run(argc > 1 ? argv[1] : NULL);
}
