/* The database under the store: merged by processes that write much, or when there are many tables;
 * and opened, repaired and compared with what was acknowledged when its files are damaged. */
#include "tests/store/fixture.h"

#include "base/io/out_file.h"
#include "store/internal.h"
#include "store/maintain.h"

#include <sys/stat.h>

enum { FEW = 12, MANY = 20, LARGE = 1 << 20 };

static size_t count_tables(const char *path)
{
    glob_t g = files_of(path, "*.sst");
    size_t n = g.gl_pathc;
    globfree(&g);
    return n;
}

/* A process that writes two records, as far apart as keys can be, into a table of its own. */
static struct rocks *write_table(const char *db, struct rng *r, size_t bytes)
{
    struct rocks *rocks;
    uint8_t *value = calloc(1, bytes);
    MUST(rocks_open(&rocks, db, ROCKS_CREATE, &err));
    rocks_settle(rocks);
    for (int i = 0; i < 2; i++) {
        uint8_t key[32] = {i ? 0xff : 0, (uint8_t)rng_u64(r), (uint8_t)rng_u64(r)};
        struct rocks_write w = {ROCKS_OBJECTS, false, span_of(key, 32), span_of(value, bytes)};
        MUST(rocks_write(rocks, &w, 1, false, &err));
    }
    MUST(rocks_flush(rocks, &err));
    free(value);
    return rocks;
}

static void wait_for_merge(const char *path, struct rocks *rocks)
{
    while (count_tables(path) >= FEW) /* for ever, if nothing merges: the test's timeout tells */
        usleep(10000);
    rocks_close(rocks);
}

TEST(small_writers_do_not_merge)
{
    struct rng r = rng_new(test_seed(1), 2);
    char path[64], db[80];
    temporary_directory(path);
    snprintf(db, sizeof db, "%s/db", path);
    for (int i = 1; i <= FEW; i++) {
        rocks_close(write_table(db, &r, 100));
        assert_int_equal(count_tables(path), i);
    }
    wait_for_merge(path, write_table(db, &r, 10 * LARGE));
    for (int i = 0; i < MANY; i++)
        rocks_close(write_table(db, &r, 100));
    wait_for_merge(path, write_table(db, &r, 100));
    os_remove_tree(path);
}

/* ---- damaged files ---- */

static struct digest ids[3];

static void put_named(struct test_store *p, unsigned i)
{
    char name[16];
    struct store_batch *b = store_batch_new(p->s);
    ids[i] = put_number(b, i);
    snprintf(name, sizeof name, "number/%u", i);
    MUST(store_batch_ref(b, name, &ids[i], &err));
    commit(b);
    store_batch_free(b);
}

static void check_named(struct test_store *p, unsigned n)
{
    struct arena a = {0};
    for (unsigned i = 0; i < n; i++) {
        struct digest id;
        struct record r;
        char name[16];
        snprintf(name, sizeof name, "number/%u", i);
        MUST(store_ref(&id, p->s, name, &err));
        assert_true(digest_equal(&id, &ids[i]));
        MUST(store_get(&r, p->s, &id, &a, &err));
    }
    arena_free(&a);
}

/* The last file that matches, in the database. */
static void find_file(char path[200], const struct test_store *p, const char *name)
{
    glob_t g = files_of(p->path, name);
    snprintf(path, 200, "%s", g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
}

/* The log has the last write, but not what the list has forgotten. */
STORE_TEST(an_old_list_with_a_new_log)
{
    char list[200];
    struct stat st;
    put_named(p, 0);
    find_file(list, p, "MANIFEST-*");
    assert_int_equal(stat(list, &st), 0);
    MUST(rocks_flush(p->s->rocks, &err));
    put_named(p, 1);
    store_close(p->s);
    assert_int_equal(truncate(list, st.st_size), 0);
    p->s = open_store(p->path);
    check_named(p, 2);
    assert_non_null(strstr(store_notice(p->s), "damaged"));
}

STORE_TEST(no_list)
{
    char path[200];
    put_named(p, 0);
    MUST(rocks_flush(p->s->rocks, &err));
    put_named(p, 1);
    for (int i = 0; i < 2; i++) {
        store_close(p->s);
        find_file(path, p, i ? "MANIFEST-*" : "CURRENT");
        assert_int_equal(unlink(path), 0);
        p->s = open_store(p->path);
        check_named(p, 2);
        assert_non_null(strstr(store_notice(p->s), i ? "MANIFEST" : "CURRENT"));
    }
}

/* RocksDB dies of one bit there, when it reads what the table says of itself. */
STORE_TEST(the_end_of_a_table)
{
    char table[200];
    put_named(p, 0);
    put_named(p, 1);
    MUST(rocks_flush(p->s->rocks, &err));
    for (int back = 90; back < 105; back++) {
        store_close(p->s);
        find_file(table, p, "*.sst");
        flip_bits(table, -back, 0x80);
        p->s = open_store(p->path);
        assert_non_null(strstr(store_notice(p->s), "damaged"));
        put_named(p, 0);
        put_named(p, 1);
        MUST(rocks_flush(p->s->rocks, &err));
        check_named(p, 2);
    }
}

/* A log that ends in the middle of an entry, where its writer was killed, and goes on in the next;
 * and a table that was not finished: no damage. Damage in the second log is. */
STORE_TEST(logs_after_kills)
{
    char log[200], bad[200], table[100];
    put_named(p, 0);
    find_file(log, p, "*.log");
    store_close(p->s);
    FILE *f = fopen(log, "ab");
    assert_non_null(f);
    fwrite("\1\2\3\4\x60\0\1torn", 1, 11, f);
    fclose(f);
    p->s = open_store(p->path);
    put_named(p, 1);
    store_close(p->s);
    snprintf(table, sizeof table, "%s/db/000999.sst", p->path);
    MUST(out_file_write(table, "half", 4, &err));
    p->s = open_store(p->path);
    assert_null(store_notice(p->s));
    check_named(p, 2);
    put_named(p, 1);
    find_file(bad, p, "*.log");
    store_close(p->s);
    flip_bits(bad, -3, 0xff);
    p->s = open_store(p->path);
    assert_non_null(store_notice(p->s));
    assert_non_null(strstr(store_notice(p->s), "the last 1 entries acknowledged are lost"));
    check_named(p, 2); /* the entry lost had the same */
}

/* The largest table. */
static void find_objects(char path[200], const struct test_store *p)
{
    glob_t g = files_of(p->path, "*.sst");
    off_t most = 0;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct stat st;
        assert_int_equal(stat(g.gl_pathv[i], &st), 0);
        if (st.st_size > most) {
            most = st.st_size;
            snprintf(path, 200, "%s", g.gl_pathv[i]);
        }
    }
    globfree(&g);
}

static enum err_code count_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    ++*(int *)arg;
    return OK;
}

/* An earlier log that is lost is a hole: RocksDB would go on with the next. */
STORE_TEST(a_lost_log_before_others)
{
    enum { GONE, EMPTY, ZEROS, WAYS };
    for (int i = 0; i < 2 * WAYS; i++) {
        for (unsigned k = 0; k < 3; k++) { /* a log each */
            put_named(p, k);
            test_store_reopen(p);
        }
        MUST(rocks_flush(p->s->rocks, &err));
        for (unsigned k = 0; k < 3; k++) {
            put_named(p, k);
            test_store_reopen(p);
        }
        store_close(p->s);
        glob_t g = files_of(p->path, "*.log");
        assert_true(g.gl_pathc >= 3);
        const char *log = NULL;
        struct stat st = {0};
        for (size_t k = 0, n = 0; k < g.gl_pathc && n <= (size_t)i % 2; k++)
            if (stat(log = g.gl_pathv[k], &st) == 0 && st.st_size)
                n++;
        assert_int_equal(i / 2 == GONE ? unlink(log) : truncate(log, 0), 0);
        if (i / 2 == ZEROS)
            assert_int_equal(truncate(log, st.st_size), 0);
        struct store_options o = {.path = p->path, .read_only = true};
        struct store *reader = NULL;
        assert_int_equal(store_open(&reader, &o, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.message, "is gone, or not as it was written"));
        p->s = open_store(p->path);
        assert_non_null(strstr(store_notice(p->s), strrchr(log, '/') + 1));
        globfree(&g);
        test_store_reopen(p);
        assert_null(store_notice(p->s));
    }
}

/* What a log holds is there, whatever happened to the tables of its family; of these, most. */
STORE_TEST(a_damaged_table_of_names)
{
    enum { NAMES = 300, FLIPS = 12 };
    char name[120], path[200], whole[210];
    struct stat st;
    struct store_batch *b = store_batch_new(p->s);
    ids[0] = put_number(b, 0);
    for (int i = 0; i < NAMES; i++) {
        struct digest d = digest_of(&(struct span){(uint8_t *)&i, sizeof i}, 1);
        char hex[DIGEST_HEX];
        snprintf(name, sizeof name, "a/%s", digest_hex(hex, &d));
        MUST(store_batch_ref(b, name, &ids[0], &err));
    }
    commit(b);
    store_batch_free(b);
    rocks_flush(p->s->rocks, NULL);
    put_named(p, 0);
    store_close(p->s);
    find_objects(path, p); /* the names: there is one object */
    assert_int_equal(stat(path, &st), 0);
    snprintf(whole, sizeof whole, "%s.whole", p->path);
    for (int i = 0; i < FLIPS; i++) {
        char command[500];
        snprintf(command, sizeof command, "rm -rf %s; cp -r %s %s", whole, p->path, whole);
        assert_int_equal(system(command), 0);
        flip_bits(path, i * (long)st.st_size / FLIPS, 1 << i % 8);
        p->s = open_store(p->path);
        int n = 0;
        MUST(store_each_ref(p->s, "a/", count_ref, &n, &err));
        check_named(p, 1);
        if (n < NAMES - 40 || !store_notice(p->s) || !strstr(store_notice(p->s), "damaged") ||
            (n < NAMES && !strstr(store_notice(p->s), "refs: some entries from 'a/")))
            fail_msg("byte %ld: %d names are left: %s", i * (long)st.st_size / FLIPS, n,
                     store_notice(p->s));
        store_close(p->s);
        snprintf(command, sizeof command, "rm -rf %s; mv %s %s", p->path, whole, p->path);
        assert_int_equal(system(command), 0);
    }
    p->s = open_store(p->path);
}

/* No list, and tables that a merge had not yet removed: none fits beside the merged one. */
STORE_TEST(tables_that_hold_the_same)
{
    char aside[100], command[500];
    snprintf(aside, sizeof aside, "%s.aside", p->path);
    for (unsigned i = 0; i < 2; i++) {
        put_named(p, i);
        MUST(rocks_flush(p->s->rocks, &err));
    }
    snprintf(command, sizeof command, "mkdir %s; ln %s/db/*.sst %s", aside, p->path, aside);
    assert_int_equal(system(command), 0);
    for (int family = ROCKS_DEFAULT + 1; family < ROCKS_FAMILIES; family++)
        rocks_compact(p->s->rocks, (enum rocks_family)family);
    store_close(p->s);
    snprintf(command, sizeof command, "ln -f %s/* %s/db; rm -r %s %s/db/CURRENT %s/db/MANIFEST*", aside,
             p->path, aside, p->path, p->path);
    assert_int_equal(system(command), 0);
    p->s = open_store(p->path);
    check_named(p, 2);
}

/* Each bit of a table is found, or makes no difference: nothing else is ever read. */
STORE_TEST(flips_in_tables)
{
    struct rng r = rng_new(test_seed(1), 1);
    char path[200];
    struct stat st;
    unsigned found = 0;
    struct store_batch *b = store_batch_new(p->s);
    for (unsigned i = 0; i < 2000; i++)
        put_number(b, i);
    commit(b);
    store_batch_free(b);
    MUST(rocks_flush(p->s->rocks, &err));
    store_close(p->s);
    p->s = NULL;
    find_objects(path, p);
    assert_int_equal(stat(path, &st), 0);
    for (int i = 0; i < 100; i++) {
        long at = (long)rng_below(&r, (uint64_t)st.st_size);
        int bit = 1 << rng_below(&r, 8);
        flip_bits(path, at, bit);
        struct fsck_result result = {0};
        struct store_options o = {.path = p->path, .read_only = true};
        struct store *s = NULL;
        enum err_code code = store_open(&s, &o, &err);
        if (!code)
            code = store_fsck(&result, s, false, NULL, NULL, &err);
        store_close(s);
        found += code || result.faults;
        if (!code && !result.faults && result.records != 2000)
            fail_msg("byte %ld of %ld: %d records left unnoticed", at, (long)st.st_size,
                     (int)result.records);
        flip_bits(path, at, bit);
    }
    print_message("%u of 100 flips found, the others harmless\n", found);
    assert_true(found > 80);
    p->s = open_store(p->path);
}

STORE_TEST(another_format)
{
    struct store *s = NULL;
    store_close(p->s);
    p->s = NULL;
    char path[100];
    snprintf(path, sizeof path, "%s/db", p->path);
    struct rocks *r;
    MUST(rocks_open(&r, path, ROCKS_WRITE, &err));
    struct rocks_write w = {ROCKS_META, false, span_str("format"), span_str("3")};
    MUST(rocks_write(r, &w, 1, true, &err));
    rocks_close(r);
    struct store_options o = {.path = p->path, .create = true};
    assert_int_equal(store_open(&s, &o, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "has format version 3; this eqloom reads version 1"));
}

STORE_TEST(few_files)
{
    for (int i = 0; i < 20; i++) {
        struct store_batch *b = store_batch_new(p->s);
        put_number(b, (unsigned)i);
        commit(b);
        store_batch_free(b);
        struct store *reader = open_reader(p->path);
        store_close(reader);
        test_store_reopen(p);
    }
    glob_t g = files_of(p->path, "*");
    assert_true(g.gl_pathc < 30);
    globfree(&g);
}
