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

enum { SEEDS, NAMES, UPPER, FIRST, NODES };
enum { LINES_MAX = 6000, ROUNDS = 8 };

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
    write_file(p, "names", "g/one t\n");
    buf_free(&b);
}

static void build(struct graph *g, struct place *p)
{
    graph_init(g, "blocks");
    graph_add(g, "seeds", "lines", "", os_join(&g->arena, p->dir, "seeds"));
    graph_add(g, "names", "names", "", os_join(&g->arena, p->dir, "names"));
    graph_add(g, "upper", "upper", "repeat=2", "exprs=seeds names=names");
    graph_add(g, "first", "first", "", "exprs=upper");
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
    struct text t = {.n = 2000 + (size_t)rng_below(&r, 2000)};
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
        /* The source; and of each new line one element of `upper` and two of `first`. */
        assert_in_range(ran, 0, 1 + 3 * (fresh - before));
        place_new(&scratch);
        struct run_result b = run_text(&scratch, &t, 2);
        for (int i = 0; i < NODES; i++) {
            assert_memory_equal(&a.nodes[i].outputs[0], &b.nodes[i].outputs[0], DIGEST_SIZE);
            assert_int_equal(a.nodes[i].elements, b.nodes[i].elements);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_elements_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
