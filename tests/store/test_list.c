/* RocksDB's list of files, where it is wrong and still reads well: an old one is noticed by what
 * neither it nor the logs hold, and one that is as it should be is believed. */
#include "tests/store/fixture.h"

#include "store/internal.h"

#include <glob.h>
#include <sys/stat.h>

static struct digest ids[2]; /* of what put_named put */

static void put_named(struct test_store *p, unsigned i)
{
    struct err err = {0};
    char name[16];
    struct store_batch *b = store_batch_new(p->s);
    ids[i] = put_number(b, i);
    snprintf(name, sizeof name, "number/%u", i);
    MUST(store_batch_ref(b, name, &ids[i], &err));
    commit(b);
    store_batch_free(b);
}

static void check_named(struct test_store *p)
{
    struct err err = {0};
    struct arena a = {0};
    for (unsigned i = 0; i < 2; i++) {
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

/* The one file that matches, in the database. */
static void find_file(char path[200], const struct test_store *p, const char *name)
{
    char pattern[100];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/db/%s", p->path, name);
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    assert_int_equal(g.gl_pathc, 1);
    snprintf(path, 200, "%s", g.gl_pathv[0]);
    globfree(&g);
}

/* The log holds the last write, but not what the list has forgotten. */
static void test_an_old_list_with_a_new_log(void **state)
{
    struct test_store *p = *state;
    struct err err = {0};
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
    check_named(p);
    assert_non_null(strstr(store_notice(p->s), "MANIFEST was cut short"));
}

/* Appends what a writer leaves that is killed in the middle of an entry. */
static void tear(const char *log)
{
    FILE *f = fopen(log, "ab");
    assert_non_null(f);
    fwrite("\1\2\3\4\x60\0\1torn", 1, 11, f);
    fclose(f);
}

/* A log that ends in the middle of an entry, where its writer was killed, and goes on in the next;
 * and a table that was not finished. */
static void test_a_good_list_after_kills(void **state)
{
    struct test_store *p = *state;
    struct err err = {0};
    char log[200], table[100];
    put_named(p, 0);
    find_file(log, p, "*.log");
    store_close(p->s);
    tear(log);
    p->s = open_store(p->path);
    put_named(p, 1);
    store_close(p->s);
    snprintf(table, sizeof table, "%s/db/000999.sst", p->path);
    MUST(os_write_file(table, "half", 4, &err));
    p->s = open_store(p->path);
    assert_null(store_notice(p->s));
    check_named(p);
    test_store_reopen(p);
    check_named(p);
}

/* Where a killed writer's log ends is no damage: the next goes on from there, and is the bad one.
 */
static void test_the_bad_one_of_two_logs_is_named(void **state)
{
    struct test_store *p = *state;
    char torn[200];
    put_named(p, 0);
    find_file(torn, p, "*.log");
    store_close(p->s);
    tear(torn);
    p->s = open_store(p->path);
    put_named(p, 1);
    put_named(p, 1);
    store_close(p->s);
    glob_t g;
    char pattern[100];
    snprintf(pattern, sizeof pattern, "%s/db/*.log", p->path);
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    assert_int_equal(g.gl_pathc, 2);
    const char *bad = g.gl_pathv[1];
    assert_string_equal(g.gl_pathv[0], torn);
    FILE *f = fopen(bad, "r+b");
    assert_non_null(f);
    fseek(f, -3, SEEK_END); /* in its second entry */
    fputc(255, f);
    fclose(f);
    p->s = open_store(p->path);
    assert_non_null(store_notice(p->s));
    print_message("%s\n", store_notice(p->s));
    assert_non_null(strstr(store_notice(p->s), strrchr(bad, '/') + 1));
    assert_null(strstr(store_notice(p->s), strrchr(torn, '/') + 1));
    globfree(&g);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, test_store_setup, test_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_old_list_with_a_new_log),
        TEST(test_a_good_list_after_kills),
        TEST(test_the_bad_one_of_two_logs_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
