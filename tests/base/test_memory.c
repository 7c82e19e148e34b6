/* Arenas, buffers and maps, against what is plain to see. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/rng.h"
#include "tests/unit.h"

TEST(arena)
{
    struct arena a = {0};
    struct rng r = rng_new(1, 1);
    enum { N = 2000 };
    uint8_t *blocks[N];
    size_t sizes[N];
    for (size_t i = 0; i < N; i++) {
        sizes[i] = rng_below(&r, i % 50 == 0 ? 100000 : 100);
        blocks[i] = arena_alloc(&a, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], (int)(i & 255), sizes[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(blocks[i][k], i & 255);
    size_t used = a.used;
    struct arena_mark mark = arena_mark(&a);
    char *s = arena_printf(&a, "%d-%s", 7, "x");
    assert_string_equal(s, "7-x");
    assert_string_equal(arena_strndup(&a, NULL, 0), ""); /* as of an empty buffer; UBSan looks */
    arena_alloc(&a, 5 << 20);
    arena_release(&a, mark);
    assert_int_equal(a.used, used);
    assert_int_equal((uintptr_t)arena_try_alloc(&a, 3, 100) % 64, 0);
    assert_null(arena_try_alloc(&a, SIZE_MAX / 2, 4));
    assert_null(arena_try_alloc(&a, SIZE_MAX, 1));
    arena_reset(&a);
    assert_int_equal(a.used, 0);
    int *zeros = arena_array(&a, int, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(zeros[i], 0);
    assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
    arena_free(&a);
    assert_null(a.chunks);
}

TEST(buf)
{
    struct buf b = {0};
    for (int i = 0; i < 1000; i++) {
        buf_printf(&b, "%d,", i);
        buf_putc(&b, ';');
        buf_add(&b, "", 0);
    }
    assert_int_equal(b.len, strlen(b.data));
    assert_memory_equal(b.data, "0,;1,;2,;", 9);
    assert_string_equal(b.data + b.len - 5, "999,;");
    buf_clear(&b);
    assert_string_equal(b.data, "");
    buf_puts(&b, "x");
    assert_string_equal(b.data, "x");
    buf_free(&b);
    assert_null(b.data);
}

TEST(map64)
{
    struct map64 m = {0};
    enum { KEYS = 5000 };
    uint64_t *oracle = calloc(KEYS, sizeof *oracle);
    struct rng r = rng_new(2, 2);
    assert_null(map64_get(&m, 0));
    for (int i = 0; i < 20000; i++) {
        uint64_t key = rng_below(&r, KEYS);
        bool added;
        uint64_t *value = map64_put(&m, key << 40, 100, &added);
        assert_int_equal(added, oracle[key] == 0);
        assert_int_equal(*value, oracle[key] ? oracle[key] : 100);
        *value = oracle[key] = (uint64_t)i + 1;
    }
    size_t n = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        uint64_t *value = map64_get(&m, key << 40);
        assert_int_equal(value ? *value : 0, oracle[key]);
        n += oracle[key] != 0;
    }
    assert_int_equal(m.n, n);
    map64_free(&m);
    free(oracle);
}

static struct digest numbered(char name[32], uint64_t i)
{
    struct span part = span_of(&i, sizeof i);
    snprintf(name, 32, "name-%llu", (unsigned long long)i);
    return digest_of(&part, 1);
}

TEST(other_maps)
{
    struct digest_map d = {0};
    struct name_map names = {0};
    for (uint64_t i = 0; i < 3000; i++) {
        char name[32];
        struct digest key = numbered(name, i);
        bool added;
        *digest_map_put(&d, &key, 0, &added) = i;
        assert_true(added);
        *name_map_put(&names, name, 0, &added) = i;
        assert_true(added);
        name_map_put(&names, name, 0, &added);
        assert_false(added);
    }
    for (uint64_t i = 0; i < 6000; i++) {
        char name[32];
        struct digest key = numbered(name, i);
        uint64_t *x = digest_map_get(&d, &key), *y = name_map_get(&names, name);
        if (i < 3000) {
            assert_int_equal(*x, i);
            assert_int_equal(*y, i);
        } else {
            assert_null(x);
            assert_null(y);
        }
    }
    struct digest none = {0};
    digest_map_clear(&d);
    assert_int_equal(d.n, 0);
    assert_null(digest_map_get(&d, &none));
    *digest_map_put(&d, &none, 7, NULL) += 1;
    assert_int_equal(*digest_map_get(&d, &none), 8);
    digest_map_free(&d);
    digest_map_clear(&d);
    name_map_free(&names);
}
