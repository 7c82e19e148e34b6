/* What readers see of a store whose files are damaged: all of it, or an error; never less. A few of
 * the bits of each file are flipped; EQLOOM_TEST_BITS=1 flips every one, 20 every twentieth. */
#include "tests/store/fixture.h"

#include "store/db/rocks.h"
#include "store/internal.h"

#include <sys/stat.h>

enum { REFS = 12, ACTIONS = 6, STRIDE = 1499 };

struct small_store {
    char path[64];
    struct digest ids[REFS], keys[ACTIONS];
};

static void make_name(char name[32], unsigned i)
{
    snprintf(name, 32, "job/node-%u", i);
}

static void put_all(struct small_store *p, bool in_tables)
{
    char name[32];
    struct store *s = open_store(p->path);
    struct store_batch *b = store_batch_new(s);
    for (unsigned i = 0; i < REFS; i++) {
        p->ids[i] = put_number(b, i);
        make_name(name, i);
        MUST(store_batch_ref(b, name, &p->ids[i], &err));
        MUST(store_batch_source(b, name, span_str(name), &err));
    }
    for (unsigned i = 0; i < ACTIONS; i++) {
        p->keys[i] = action_key(span_of(&i, sizeof i));
        MUST(store_batch_action(b, &p->keys[i], span_of(&i, sizeof i), &err));
        snprintf(name, sizeof name, "job/%u", i);
        MUST(store_batch_run(b, name, span_str("a run"), &err));
    }
    commit(b);
    store_batch_free(b);
    if (in_tables)
        MUST(rocks_flush(s->rocks, &err));
    store_close(s);
}

static enum err_code count_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    ++*(unsigned *)arg;
    return OK;
}

static enum err_code count_value(void *arg, const char *name, struct span value, struct err *e)
{
    ++*(unsigned *)arg;
    return OK;
}

static enum err_code count_action(void *arg, const struct digest *key, struct span value,
                                  struct err *e)
{
    ++*(unsigned *)arg;
    return OK;
}

/* True if a reader was told of damage; what it is given is right. */
static bool is_told(struct small_store *p)
{
    struct arena a = {0};
    struct record r;
    struct span action;
    struct store *s;
    struct digest id;
    char name[32];
    unsigned refs = 0, sources = 0, runs = 0, actions = 0;
    struct store_options o = {.path = p->path, .read_only = true};
    enum err_code code = store_open(&s, &o, &err);
    if (code) {
        assert_true(code == ERR_CORRUPT || code == ERR_IO || code == ERR_NOTFOUND);
        assert_string_not_equal(err.message, "");
        assert_null(strstr(err.message, "is empty"));
        return true;
    }
    bool told = false;
    for (unsigned i = 0; i < REFS; i++) {
        make_name(name, i);
        if ((code = store_ref(&id, s, name, &err)) == OK)
            assert_true(digest_equal(&id, &p->ids[i]));
        else
            assert_int_equal(code, ERR_CORRUPT);
        told |= code != OK;
        if ((code = store_get(&r, s, &p->ids[i], &a, &err)) != OK)
            assert_int_equal(code, ERR_CORRUPT);
        told |= code != OK;
    }
    for (unsigned i = 0; i < ACTIONS; i++) {
        if ((code = store_action(&action, s, &p->keys[i], &a, &err)) == OK)
            assert_true(span_equal(action, span_of(&i, sizeof i)));
        else
            assert_int_equal(code, ERR_CORRUPT);
        told |= code != OK;
    }
    enum err_code codes[] = {store_each_ref(s, "", count_ref, &refs, &err),
                             store_each_source(s, count_value, &sources, &err),
                             store_each_run(s, NULL, count_value, &runs, &err),
                             store_each_action(s, count_action, &actions, &err)};
    const unsigned found[] = {refs, sources, runs, actions};
    const unsigned wanted[] = {REFS, REFS, ACTIONS, ACTIONS};
    for (size_t i = 0; i < 4; i++) {
        assert_true(codes[i] == ERR_CORRUPT || found[i] == wanted[i]);
        told |= codes[i] != OK;
    }
    store_close(s);
    arena_free(&a);
    return told;
}

static void write_bytes(const char *path, struct span bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.data, 1, bytes.len, f), bytes.len);
    fclose(f);
}

static void damage_each(struct small_store *p, size_t *told, size_t *tries)
{
    const char *text = getenv("EQLOOM_TEST_BITS");
    size_t stride = text ? strtoul(text, NULL, 10) : STRIDE, first = test_seed(1) % stride;
    glob_t g = files_of(p->path, "{*.sst,*.log,MANIFEST*,CURRENT}");
    for (size_t k = 0; k < g.gl_pathc; k++) {
        const char *path = g.gl_pathv[k];
        struct arena a = {0};
        struct span bytes;
        MUST(os_read_file(&bytes, &a, path, 1 << 24, &err));
        uint8_t *flipped = arena_memdup(&a, bytes.data, bytes.len);
        size_t before = *told;
        for (size_t bit = first; bit < 8 * bytes.len; bit += stride, ++*tries) {
            flipped[bit / 8] ^= (uint8_t)(1 << bit % 8);
            write_bytes(path, span_of(flipped, bytes.len));
            flipped[bit / 8] ^= (uint8_t)(1 << bit % 8);
            *told += is_told(p);
        }
        if (bytes.len) {
            assert_int_equal(truncate(path, (off_t)(bytes.len / 2)), 0);
            assert_true(is_told(p));
            assert_int_equal(truncate(path, 0), 0);
            assert_true(is_told(p));
            assert_int_equal(unlink(path), 0);
            assert_true(is_told(p));
        }
        write_bytes(path, bytes);
        assert_false(is_told(p));
        print_message("%s: %zu bytes, told of %zu\n", path, bytes.len, *told - before);
        arena_free(&a);
    }
    globfree(&g);
}

static void check(bool in_tables)
{
    struct small_store p;
    size_t told = 0, tries = 0;
    temporary_directory(p.path);
    put_all(&p, in_tables); /* else the log alone has it */
    damage_each(&p, &told, &tries);
    print_message("told of %zu of %zu flips\n", told, tries);
    assert_true(told > tries / 2);
    os_remove_tree(p.path);
}

TEST(tables)
{
    check(true);
}

TEST(log)
{
    check(false);
}
