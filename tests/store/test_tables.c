/* Table files: against the checksums in the MANIFEST each flipped bit is found, wherever it is; and
 * they are merged by processes that write much, or when there are many. */
#include "tests/store/fixture.h"

#include "store/crc32c.h"
#include "store/rocks.h"
#include "store/tables.h"

#include <glob.h>
#include <unistd.h>

enum { FLIPS = 200, FEW = 12, MANY = 20, LARGE = 1 << 20 };

static void test_crc32c(void **state)
{
    (void)state;
    struct crc32c c;
    crc32c_init(&c);
    /* RFC 3720, B.4 */
    uint8_t zeros[32] = {0}, ascending[32];
    for (int i = 0; i < 32; i++)
        ascending[i] = (uint8_t)i;
    assert_int_equal(crc32c_extend(&c, 0, zeros, 32), 0x8a9136aa);
    assert_int_equal(crc32c_extend(&c, 0, ascending, 32), 0x46dd794e);
    assert_int_equal(crc32c_extend(&c, crc32c_extend(&c, 0, ascending, 13), ascending + 13, 19),
                     0x46dd794e);
}

static void flip(const char *path, struct rng *r, long *at, int *bit)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    if (*at < 0) {
        fseek(f, 0, SEEK_END);
        *at = (long)rng_below(r, (uint64_t)ftell(f));
        *bit = (int)rng_below(r, 8);
    }
    fseek(f, *at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, *at, SEEK_SET);
    fputc(c ^ 1 << *bit, f);
    fclose(f);
}

static void test_every_flip_is_found(void **state)
{
    (void)state;
    struct err err = {0};
    struct rng r = rng_new(test_seed(), 1);
    struct tables_result result;
    char path[64], db[80], pattern[96];
    temporary_directory(path);
    snprintf(db, sizeof db, "%s/db", path);
    struct rocks *rocks;
    MUST(rocks_open(&rocks, db, NULL, true, &err));
    for (int i = 0; i < 2000; i++) {
        uint8_t key[32] = {0};
        for (int k = 0; k < 32; k++)
            key[k] = (uint8_t)rng_u64(&r);
        struct rocks_write w = {i % 2 ? ROCKS_OBJECTS : ROCKS_REFS, false, span_of(key, 32),
                                span_of(key, 20)};
        MUST(rocks_write(rocks, &w, 1, false, &err));
    }
    MUST(rocks_flush(rocks, &err));
    rocks_close(rocks);
    MUST(tables_check(&result, db, UINT64_MAX, NULL, NULL, &err));
    assert_int_equal(result.tables, 2);
    assert_int_equal(result.bad, 0);
    for (int i = 0; i < FLIPS; i++) {
        glob_t g;
        long at = -1;
        int bit = 0;
        bool table = i % 4 != 0;
        snprintf(pattern, sizeof pattern, "%s/%s", db, table ? "*.sst" : "MANIFEST-*");
        assert_int_equal(glob(pattern, 0, NULL, &g), 0);
        const char *file = g.gl_pathv[rng_below(&r, g.gl_pathc)];
        flip(file, &r, &at, &bit);
        enum err_code code = tables_check(&result, db, UINT64_MAX, NULL, NULL, &err);
        if (code != OK || result.bad != 1 || result.manifest_bad == table)
            fail_msg("%s byte %ld bit %d: code %d, %d bad", file, at, bit, code, (int)result.bad);
        flip(file, &r, &at, &bit);
        globfree(&g);
    }
    remove_tree(path);
}

static size_t count_tables(const char *db)
{
    char pattern[96];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/*.sst", db);
    size_t n = glob(pattern, 0, NULL, &g) ? 0 : g.gl_pathc;
    globfree(&g);
    return n;
}

/* A process that writes two records, as far apart as keys can be, into a table of its own. */
static struct rocks *write_table(const char *db, struct rng *r, size_t bytes)
{
    struct err err = {0};
    struct rocks *rocks;
    uint8_t *value = calloc(1, bytes);
    MUST(rocks_open(&rocks, db, NULL, true, &err));
    for (int i = 0; i < 2; i++) {
        uint8_t key[32] = {i ? 0xff : 0, (uint8_t)rng_u64(r), (uint8_t)rng_u64(r)};
        struct rocks_write w = {ROCKS_OBJECTS, false, span_of(key, 32), span_of(value, bytes)};
        MUST(rocks_write(rocks, &w, 1, false, &err));
    }
    MUST(rocks_flush(rocks, &err));
    free(value);
    return rocks;
}

static void wait_for_merge(const char *db, struct rocks *rocks)
{
    while (count_tables(db) >= FEW) /* for ever, if nothing merges: the test's timeout tells */
        usleep(10000);
    rocks_close(rocks);
}

static void test_small_writers_do_not_merge(void **state)
{
    (void)state;
    struct rng r = rng_new(test_seed(), 2);
    char path[64], db[80];
    temporary_directory(path);
    snprintf(db, sizeof db, "%s/db", path);
    for (int i = 1; i <= FEW; i++) {
        rocks_close(write_table(db, &r, 100));
        assert_int_equal(count_tables(db), i);
    }
    wait_for_merge(db, write_table(db, &r, 10 * LARGE));
    for (int i = 0; i < MANY; i++)
        rocks_close(write_table(db, &r, 100));
    wait_for_merge(db, write_table(db, &r, 100));
    remove_tree(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crc32c),
                                       cmocka_unit_test(test_every_flip_is_found),
                                       cmocka_unit_test(test_small_writers_do_not_merge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
