/* Maps over collections that have leaves: whatever few elements change, the outputs are those of a
 * run from scratch, and what did not change is not looked at one by one. The seed is printed and
 * may be given in EQLOOM_TEST_SEED. */
#include "place.h"

#include "base/buf.h"
#include "base/os.h"
#include "base/rng.h"
#include "store/maintain.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { SEEDS, NAMES, UPPER, FIRST, RANK, WEIGH, NODES };
enum { LINES_MAX = 60000, ROUNDS = 8, LARGE = 36000 };

struct text {
    uint32_t lines[LINES_MAX];
    size_t n;
};

static void write_seeds(struct place *p, const struct text *t)
{
    struct buf b = {0};
    for (size_t i = 0; i < t->n; i++)
        buf_printf(&b, "%c%u\n", 'a' + (int)(t->lines[i] % 3), t->lines[i]);
    write_file(p, "seeds", b.data ? b.data : "");
    write_file(p, "names", "g/one t\nz/bee u\n");
    buf_free(&b);
}

static void build(struct graph *g, struct place *p)
{
    graph_init(g, "blocks");
    graph_add(g, "seeds", "lines", "", os_join(&g->arena, p->dir, "seeds"));
    graph_add(g, "names", "names", "", os_join(&g->arena, p->dir, "names"));
    graph_add(g, "upper", "upper", "repeat=2", "exprs=seeds names=names");
    graph_add(g, "first", "first", "", "exprs=upper");
    graph_add(g, "rank", "rank", "", "exprs=seeds names=names");
    graph_add(g, "weigh", "weigh", "most=4", "exprs=rank");
}

static struct run_result run_text(struct place *p, const struct text *t, unsigned threads)
{
    struct graph g;
    write_seeds(p, t);
    build(&g, p);
    struct run_result r =
        run_with(p, &g, (struct run_options){.keep_going = true, .threads = threads});
    assert_int_equal(r.failed, 0);
    graph_free(&g);
    return r;
}

static void edit(struct text *t, struct rng *r, uint32_t *fresh)
{
    size_t at = (size_t)rng_below(r, t->n), n = 1 + (size_t)rng_below(r, 5);
    switch (rng_below(r, 4)) {
    case 0: t->lines[at] = (*fresh)++; break;
    case 1: /* some go */
        n = n < t->n - at ? n : t->n - at;
        memmove(t->lines + at, t->lines + at + n, (t->n - at - n) * sizeof *t->lines);
        t->n -= n;
        break;
    case 2: /* some come */
        n = n < LINES_MAX - t->n ? n : LINES_MAX - t->n;
        memmove(t->lines + at + n, t->lines + at, (t->n - at) * sizeof *t->lines);
        for (size_t i = 0; i < n; i++)
            t->lines[at + i] = (*fresh)++;
        t->n += n;
        break;
    case 3: { /* another order */
        uint32_t first = t->lines[0];
        t->lines[0] = t->lines[at];
        t->lines[at] = first;
        break;
    }
    }
}

static void test_few_elements_change(void **state)
{
    const char *given = getenv("EQLOOM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("EQLOOM_TEST_SEED=%" PRIu64 "\n", seed);
    struct rng r = rng_new(seed, 0);
    static struct text t;
    t.n = 2000 + (size_t)rng_below(&r, 2000);
    struct place p;
    uint32_t fresh = 0;
    place_new(&p);
    for (size_t i = 0; i < t.n; i++)
        t.lines[i] = fresh++;
    run_text(&p, &t, 2);
    for (int round = 0; round < ROUNDS; round++) {
        struct place scratch;
        uint32_t before = fresh;
        edit(&t, &r, &fresh);
        if (rng_below(&r, 3) == 0)
            place_reopen(&p);
        int ran = ops_ran;
        struct run_result a = run_text(&p, &t, 1 + (unsigned)rng_below(&r, 3));
        ran = ops_ran - ran;
        /* The source and `weigh`; and of each new line one element of `upper`, two of `first`, one
         * of `rank`. */
        assert_in_range(ran, 0, 2 + 4 * (fresh - before));
        place_new(&scratch);
        struct run_result b = run_text(&scratch, &t, 2);
        for (int i = 0; i < NODES; i++) {
            assert_memory_equal(&a.nodes[i].outputs[0], &b.nodes[i].outputs[0], DIGEST_SIZE);
            assert_int_equal(a.nodes[i].elements, b.nodes[i].elements);
            if (i != WEIGH)
                assert_int_equal(a.nodes[i].elements, a.nodes[i].ran + a.nodes[i].cached);
        }
        place_free(&scratch);
    }
    struct fsck_result checked;
    struct err e = {0};
    check(store_fsck(&checked, p.store, false, NULL, NULL, &e), &e);
    assert_int_equal(checked.bad_records + checked.missing, 0);
    place_free(&p);
}

/* Enough elements for blocks above the leaves: whatever is edited, the same ids; and of a map and
 * of summaries little is done. */
static void test_blocks_above_leaves(void **state)
{
    struct text *t = calloc(1, sizeof *t);
    struct rng r = rng_new(7, 0);
    struct place p;
    uint32_t fresh = 0;
    struct graph g;
    place_new(&p);
    for (t->n = 0; t->n < LARGE; t->n++)
        t->lines[t->n] = fresh++;
    for (int round = 0; round < 6; round++) {
        struct place scratch;
        struct run_result result[2];
        struct place *places[] = {&p, &scratch};
        uint32_t before = fresh;
        if (round)
            edit(t, &r, &fresh);
        place_new(&scratch);
        if (round == 3) { /* what only old runs had goes; blocks name slices of what there is now */
            struct gc_result collected;
            struct err e = {0};
            check(store_gc(&collected, p.store, &(struct gc_options){.keep_runs = 1}, &e), &e);
        }
        int ran = ops_ran, summarized = ops_summarized;
        for (int k = 0; k < 2; k++) {
            write_seeds(places[k], t);
            graph_init(&g, "blocks");
            graph_add(&g, "seeds", "lines", "", os_join(&g.arena, places[k]->dir, "seeds"));
            graph_add(&g, "first", "first", "", "exprs=seeds");
            graph_add(&g, "weigh", "weigh", "most=4", "exprs=seeds");
            result[k] = run(places[k], &g);
            if (k == 0 && round) {
                assert_in_range(ops_ran - ran, 0, 2 + fresh - before);
                assert_in_range(ops_summarized - summarized, 0, fresh - before);
            }
            graph_free(&g);
        }
        for (int i = 0; i < 3; i++)
            assert_memory_equal(&result[0].nodes[i].outputs[0], &result[1].nodes[i].outputs[0],
                                DIGEST_SIZE);
        assert_memory_equal(&result[0].nodes[2].outputs[1], &result[1].nodes[2].outputs[1],
                            DIGEST_SIZE);
        place_free(&scratch);
    }
    place_free(&p);
    free(t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_elements_change),
                                              cmocka_unit_test(test_blocks_above_leaves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
