/* Sources in chunks: whatever of the files changes, the collection is that of their lines, what did
 * not change is not parsed, and errors are where they are. The seed is printed and may be given in
 * EQLOOM_TEST_SEED. */
#include "base/buf.h"
#include "base/os.h"
#include "base/rng.h"
#include "place.h"
#include "schemas/expr.pb-c.h"
#include "store/collection/collection.h"
#include "store/maintain.h"
#include "tests/unit.h"

#include <inttypes.h>
#include <time.h>

enum { LINES_MAX = 20000, ROUNDS = 40, FILES = 2 };

/* A line is a number; what it looks like is a function of it. */
struct text {
    uint32_t lines[LINES_MAX];
    size_t n;
    bool open; /* the last line has no end */
};

static const char *look_of(struct arena *a, uint32_t line)
{
    if (line % 97 == 3)
        return "";
    if (line % 89 == 5)
        return arena_printf(a, "# comment %u", line);
    return arena_printf(a, "%c%.*s%u", 'a' + (int)(line % 26), (int)(line % 7), "......", line);
}

static void write_text(struct place *p, const char *name, const struct text *t)
{
    struct buf b = {0};
    struct arena a = {0};
    for (size_t i = 0; i < t->n; i++)
        buf_printf(&b, "%s%s", look_of(&a, t->lines[i]),
                   t->open && i + 1 == t->n ? ""
                   : t->lines[i] % 11 == 1  ? "\r\n"
                                            : "\n");
    write_file(p, name, b.data ? b.data : "");
    arena_free(&a);
    buf_free(&b);
}

/* The collection of the lines, without the engine. */
static struct digest id_of(struct place *p, const struct text *t)
{
    struct err e = {0};
    struct arena a = {0};
    struct digest id;
    struct store_batch *b = store_batch_new(p->store);
    struct collection_builder *c = collection_builder_new(b, KIND_EXPR);
    for (size_t f = 0; f < FILES; f++)
        for (size_t i = 0; i < t[f].n; i++) {
            Eqloom__Expr m = EQLOOM__EXPR__INIT;
            m.prefix = (char *)look_of(&a, t[f].lines[i]);
            if (!*m.prefix || *m.prefix == '#')
                continue;
            check(store_batch_put_message(&id, b, KIND_EXPR, &m.base, &e), &e);
            check(collection_builder_add(c, &id, &e), &e);
        }
    check(collection_builder_finish(&id, c, &e), &e);
    collection_builder_free(c);
    store_batch_free(b); /* nothing of it is written */
    arena_free(&a);
    return id;
}

static void build(struct graph *g, struct place *p)
{
    graph_init(g, "chunks");
    graph_add(g, "seeds", "lines", "",
              arena_printf(&g->arena, "%s %s", os_join(&g->arena, p->dir, "seeds.0"),
                           os_join(&g->arena, p->dir, "seeds.1")));
    graph_add(g, "first", "first", "", "exprs=seeds");
}

static void write_both(struct place *p, const struct text *t)
{
    write_text(p, "seeds.0", &t[0]);
    write_text(p, "seeds.1", &t[1]);
}

/* Lines parsed by a run, whose result is right. */
static int run_text(struct place *p, const struct text *t)
{
    struct graph g;
    build(&g, p);
    write_both(p, t);
    struct digest expected = id_of(p, t);
    int before = atomic_load(&ops_lines);
    struct run_result planned = plan(p, &g);
    int parsed = atomic_load(&ops_lines) - before;
    assert_memory_equal(planned.nodes[0].outputs, &expected, sizeof expected);
    struct run_result r = run(p, &g);
    assert_memory_equal(r.nodes[0].outputs, &expected, sizeof expected);
    assert_int_equal(r.failed, 0);
    assert_int_equal(atomic_load(&ops_lines) - before, 2 * parsed);
    graph_free(&g);
    return parsed;
}

static void insert(struct text *t, size_t at, const uint32_t *lines, size_t n)
{
    n = n < LINES_MAX - t->n ? n : LINES_MAX - t->n;
    memmove(t->lines + at + n, t->lines + at, (t->n - at) * sizeof *t->lines);
    memcpy(t->lines + at, lines, n * sizeof *lines);
    t->n += n;
}

static size_t take_out(uint32_t *lines, struct text *t, size_t at, size_t n)
{
    n = n < t->n - at ? n : t->n - at;
    memcpy(lines, t->lines + at, n * sizeof *lines);
    memmove(t->lines + at, t->lines + at + n, (t->n - at - n) * sizeof *t->lines);
    t->n -= n;
    return n;
}

static void edit(struct text *t, struct rng *r, uint32_t *fresh)
{
    static uint32_t some[4000];
    struct text *from = &t[rng_below(r, FILES)], *to = &t[rng_below(r, FILES)];
    size_t n = (size_t)rng_below(r, rng_below(r, 4) ? 4 : 4000), at;
    at = (size_t)rng_below(r, from->n + 1);
    switch (rng_below(r, 5)) {
    case 0: /* lines change */
        for (size_t i = at; i < from->n && i < at + n; i++)
            from->lines[i] = (*fresh)++;
        break;
    case 1: take_out(some, from, at, n); break;
    case 2: /* new ones, now and then a paragraph of the same line */
        for (size_t i = 0; i < n; i++)
            some[i] = n % 3 ? (*fresh)++ : *fresh;
        insert(to, (size_t)rng_below(r, to->n + 1), some, n);
        break;
    case 3: /* moved, perhaps into the other file */
        n = take_out(some, from, at, n);
        insert(to, (size_t)rng_below(r, to->n + 1), some, n);
        break;
    default: /* copied */
        n = take_out(some, from, at, n);
        insert(from, at, some, n);
        insert(to, (size_t)rng_below(r, to->n + 1), some, n);
        break;
    }
    to->open = rng_below(r, 3) == 0;
}

static void fill(struct text *t, size_t n, uint32_t *fresh)
{
    memset(t, 0, sizeof *t);
    for (; t->n < n; t->n++)
        t->lines[t->n] = (*fresh)++;
}

static uint64_t seed_of_test(void)
{
    const char *given = getenv("EQLOOM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("EQLOOM_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

static void test_random_edits(void **state)
{
    static struct text t[FILES];
    struct place p;
    struct rng r = rng_new(seed_of_test(), 0);
    uint32_t fresh = 0;
    place_new(&p);
    fill(&t[0], 6000, &fresh);
    fill(&t[1], 0, &fresh);
    for (int round = 0; round < ROUNDS; round++) {
        edit(t, &r, &fresh);
        run_text(&p, t);
        if (round % 20 == 10) { /* the whole gives the same */
            struct graph g;
            build(&g, &p);
            struct run_result x =
                run_with(&p, &g, (struct run_options){.keep_going = true, .check = true});
            assert_int_equal(x.failed, 0);
            graph_free(&g);
        }
        if (round % 20 == 15) { /* of the past only the last run is left */
            struct gc_result removed;
            struct err e = {0};
            check(store_gc(&removed, p.store, &(struct gc_options){.keep_runs = 1}, &e), &e);
        }
    }
    place_free(&p);
}

/* One line of many: what is parsed is a chunk or two. */
static void test_little_is_parsed(void **state)
{
    static struct text t[FILES];
    struct place p;
    uint32_t fresh = 0;
    place_new(&p);
    fill(&t[0], LINES_MAX, &fresh);
    fill(&t[1], LINES_MAX - 1, &fresh);
    assert_int_equal(run_text(&p, t), 2 * LINES_MAX - 1);
    t[0].lines[LINES_MAX / 2] = fresh++;
    assert_in_range(run_text(&p, t), 1, LINES_MAX / 4);
    insert(&t[1], 1, &fresh, 1);
    assert_in_range(run_text(&p, t), 1, LINES_MAX / 4);
    /* Files whose chunks are all known, in another order. */
    struct text was = t[0];
    t[0] = t[1];
    t[1] = was;
    assert_int_equal(run_text(&p, t), 0);
    place_free(&p);
}

static void test_places_of_errors(void **state)
{
    static struct text t[FILES];
    struct place p;
    struct graph g;
    struct arena a = {0};
    struct buf b = {0};
    struct err e = {0};
    struct run_result r;
    struct run_options o = {.threads = 2};
    uint32_t fresh = 0;
    place_new(&p);
    fill(&t[0], LINES_MAX, &fresh);
    fill(&t[1], 10, &fresh);
    run_text(&p, t);
    build(&g, &p);
    for (size_t i = 0; i < t[0].n; i++)
        buf_printf(&b, "%s\n%s", look_of(&a, t[0].lines[i]), i == 15001 ? "!wrong\n" : "");
    write_file(&p, "seeds.0", b.data);
    for (int planned = 0; planned < 2; planned++) {
        err_clear(&e);
        assert_int_equal(planned ? job_plan(&r, &a, &g.job, p.store, &o, &e)
                                 : job_run(&r, &a, &g.job, p.store, &o, &e),
                         ERR_INPUT);
        assert_string_equal(e.message, "a line begins with '!'");
        assert_non_null(strstr(e.input_file, "seeds.0"));
        assert_int_equal(e.line, 15003);
        assert_int_equal(e.column, 1);
        assert_string_equal(e.input_line, "!wrong");
    }
    run_text(&p, t); /* nothing is left of it */
    buf_free(&b);
    arena_free(&a);
    graph_free(&g);
    place_free(&p);
}

/* Asked to stop while files are read: nothing is kept, and the next run does all. */
static void test_interrupted(void **state)
{
    static struct text t[FILES];
    struct place p;
    struct graph g;
    uint32_t fresh = 0;
    static const volatile int signals = 1;
    place_new(&p);
    fill(&t[0], 1000, &fresh);
    fill(&t[1], 1000, &fresh);
    write_both(&p, t);
    build(&g, &p);
    struct run_result r = run_with(&p, &g, (struct run_options){.interrupted = &signals});
    assert_true(r.interrupted);
    assert_int_equal(r.nodes[0].state, NODE_SKIPPED);
    assert_int_equal(run_text(&p, t), 2000);
    graph_free(&g);
    place_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_edits),
        cmocka_unit_test(test_little_is_parsed),
        cmocka_unit_test(test_places_of_errors),
        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
