/* A store in a temporary directory, and records to put into it. */
#pragma once

#include "tests/unit.h"

#include "base/os.h"
#include "base/rng.h"
#include "checkpoint.pb-c.h"
#include "collection.pb-c.h"
#include "expr.pb-c.h"
#include "schemas/canonical.h"
#include "store/store.h"

#include <glob.h>
#include <unistd.h>

/* What the last call said that failed. */
static struct err err;

#define MUST(call) must((call), &err, __FILE__, __LINE__)

static inline void must(enum err_code code, const struct err *e, const char *file, int line)
{
    if (code != OK)
        print_error("%s:%d: %s\n", file, line, e->message);
    assert_int_equal(code, OK);
}

static inline void temporary_directory(char path[64])
{
    snprintf(path, 64, "/tmp/eqloom-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline struct store *open_store(const char *path)
{
    struct store *s = NULL;
    struct store_options o = {.path = path, .create = true, .command = "a test"};
    MUST(store_open(&s, &o, &err));
    return s;
}

static inline struct store *open_reader(const char *path)
{
    struct store *s = NULL;
    struct store_options o = {.path = path, .read_only = true};
    MUST(store_open(&s, &o, &err));
    return s;
}

/* For tests that need no more than an empty store; *state is its struct test_store. */
struct test_store {
    char path[64];
    struct store *s;
    struct store_batch *b; /* of a test that needs one throughout, or NULL */
    struct arena a;
};

static inline int test_store_setup(void **state)
{
    struct test_store *p = calloc(1, sizeof *p);
    temporary_directory(p->path);
    p->s = open_store(p->path);
    *state = p;
    return 0;
}

static inline int test_store_teardown(void **state)
{
    struct test_store *p = *state;
    store_batch_free(p->b);
    arena_free(&p->a);
    store_close(p->s);
    os_remove_tree(p->path);
    free(p);
    return 0;
}

/* With `struct test_store *p`. */
#define STORE_TEST(name)                                                                           \
    static void name##_in_store(struct test_store *p);                                             \
    TEST_WITH(name, test_store_setup, test_store_teardown)                                         \
    {                                                                                              \
        name##_in_store(*state);                                                                   \
    }                                                                                              \
    static void name##_in_store(struct test_store *p)

static inline void test_store_reopen(struct test_store *p)
{
    store_close(p->s);
    p->s = open_store(p->path);
}

/* An Expr with this text. */
static inline struct digest put_text(struct store_batch *b, const char *text)
{
    struct digest id;
    Eqloom__Expr expr = EQLOOM__EXPR__INIT;
    expr.prefix = (char *)text;
    MUST(store_batch_put_message(&id, b, KIND_EXPR, &expr.base, &err));
    return id;
}

static inline struct digest put_number(struct store_batch *b, unsigned i)
{
    char text[32];
    snprintf(text, sizeof text, "+ x %u", i);
    return put_text(b, text);
}

/* A Chunk of n bytes that do not compress. */
static inline struct digest put_noise(struct store_batch *b, struct rng *r, size_t n)
{
    struct digest id;
    uint8_t *data = malloc(n);
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)rng_u64(r);
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data = (ProtobufCBinaryData){n, data};
    MUST(store_batch_put_message(&id, b, KIND_CHUNK, &chunk.base, &err));
    free(data);
    return id;
}

static inline void commit(struct store_batch *b)
{
    MUST(store_batch_commit(b, &err));
}

/* Files of a store's database, of which there are some. */
static inline glob_t files_of(const char *path, const char *pattern)
{
    char full[200];
    glob_t g;
    snprintf(full, sizeof full, "%s/db/%s", path, pattern);
    assert_int_equal(glob(full, GLOB_BRACE, NULL, &g), 0);
    return g;
}

/* Changes bits of one byte of a file; `at` counts from its end if it is below 0. */
static inline void flip_bits(const char *path, long at, int mask)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(f);
    assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
    fputc(byte ^ mask, f);
    fclose(f);
}
