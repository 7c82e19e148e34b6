/* A store of format 1, kept in tests/store/format-1 as the last eqloom that wrote it left it: three
 * kinds compressed with zstd dictionaries, tables and a log. It is read as it is, raised to the
 * format of today by the first writer, made dense by compact, and loses nothing. */
#include "tests/store/fixture.h"

#include "base/buf.h"
#include "store/internal.h"
#include "store/maintain.h"

#include <dirent.h>

enum { RECORDS = 286, ACTIONS = 250, REFS = 9 };

struct place {
    char path[64];
};

static void copy_directory(const char *to, const char *from)
{
    struct err err = {0};
    MUST(os_mkdirs(to, &err));
    DIR *d = opendir(from);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        struct arena a = {0};
        char *in = arena_printf(&a, "%s/%s", from, entry->d_name);
        char *out = arena_printf(&a, "%s/%s", to, entry->d_name);
        struct span bytes;
        if (entry->d_name[0] != '.' && entry->d_type == DT_DIR) {
            copy_directory(out, in);
        } else if (entry->d_name[0] != '.') {
            MUST(os_read_file(&bytes, &a, in, 1 << 20, &err));
            MUST(os_write_file(out, bytes.data, bytes.len, &err));
        }
        arena_free(&a);
    }
    closedir(d);
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    const char *from = getenv("EQLOOM_FORMAT_1");
    assert_non_null(from);
    temporary_directory(p->path);
    copy_directory(p->path, from);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    remove_tree(p->path);
    free(p);
    return 0;
}

static void format_of(char text[16], struct store *s)
{
    struct err err = {0};
    struct rocks_value v;
    MUST(rocks_get(&v, s->rocks, ROCKS_META, span_str("format"), &err));
    snprintf(text, 16, "%.*s", (int)v.bytes.len, (const char *)v.bytes.data);
    rocks_value_free(&v);
}

static enum err_code count_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    (void)name;
    (void)id;
    (void)e;
    ++*(unsigned *)arg;
    return OK;
}

/* Everything is there and sound. */
static void check_all(struct store *s, uint64_t records)
{
    struct err err = {0};
    struct fsck_result r;
    struct digest id;
    unsigned refs = 0;
    MUST(store_fsck(&r, s, false, NULL, NULL, &err));
    assert_int_equal(r.faults, 0);
    assert_int_equal(r.records, records);
    assert_int_equal(r.actions, ACTIONS);
    MUST(store_each_ref(s, "", count_ref, &refs, &err));
    assert_int_equal(refs, REFS);
    MUST(store_ref(&id, s, "tag/kept", &err));
    assert_true(store_has(s, &id));
}

static void test_read(void **state)
{
    struct place *p = *state;
    struct store *s = open_reader(p->path);
    char format[16];
    check_all(s, RECORDS);
    format_of(format, s);
    assert_string_equal(format, "1");
    store_close(s);
}

static void test_raised_and_made_dense(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct store_stats before, after;
    char format[16];
    struct store *s = open_store(p->path);
    assert_null(store_notice(s));
    check_all(s, RECORDS);
    format_of(format, s);
    assert_string_equal(format, "2");
    MUST(store_stats(&before, s, &err));
    assert_true(before.kinds[KIND_EGRAPH].with_dictionary > 0);
    MUST(store_compact(s, &err));
    MUST(store_stats(&after, s, &err));
    for (int kind = KIND_NONE + 1; kind < KIND_END; kind++)
        if (kind != KIND_DICTIONARY) {
            assert_int_equal(after.kinds[kind].records, before.kinds[kind].records);
            assert_int_equal(after.kinds[kind].raw, before.kinds[kind].raw);
        }
    assert_true(after.kinds[KIND_EGRAPH].dense * 2 > after.kinds[KIND_EGRAPH].records);
    check_all(s, RECORDS + after.kinds[KIND_DICTIONARY].records -
                     before.kinds[KIND_DICTIONARY].records);
    store_close(s);
    s = open_store(p->path);
    check_all(s, RECORDS + after.kinds[KIND_DICTIONARY].records -
                     before.kinds[KIND_DICTIONARY].records);
    store_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_read), TEST(test_raised_and_made_dense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
