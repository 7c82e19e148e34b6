/* Chains: they go on from the last record that is there, after more steps and after gc. */
#include "small.h"

#include "base/os.h"
#include "store/maintain.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void test_chain_goes_on(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    char *seeds = write_file(&p, "seeds", "a\n");
    for (int pass = 0; pass < 3; pass++) {
        static const char *const steps[] = {"steps=3", "steps=6", "steps=4"};
        static const unsigned ran[] = {4, 3, 0};
        static const unsigned all[] = {4, 7, 5};
        graph_init(&g, "chain");
        graph_add(&g, "seeds", "lines", "", seeds);
        graph_add(&g, "joined", "join", "", "exprs=seeds");
        graph_add(&g, "model", "fold", steps[pass], "expr=joined");
        struct run_result planned = plan(&p, &g);
        if (pass == 1) {
            assert_int_equal(planned.nodes[2].ran, 3);
            assert_string_equal(planned.nodes[2].why, "param steps: 3 -> 6");
        }
        struct run_result r = run(&p, &g);
        assert_int_equal(r.failed, 0);
        assert_int_equal(r.nodes[2].ran, ran[pass]);
        assert_int_equal(r.nodes[2].elements, all[pass]);
        /* The last is a prefix of the one before: a new action, and nothing to do for it. */
        assert_int_equal(r.nodes[2].state, pass == 2 ? NODE_CACHED : NODE_RAN);
        assert_int_equal(planned.nodes[2].state, pass == 2   ? NODE_CACHED
                                                 : pass == 1 ? NODE_RAN
                                                             : NODE_WAITING);
        graph_free(&g);
    }
    place_free(&p);
}

static struct run_result run_chain_with(struct place *p, const char *steps, uint64_t keep,
                                        bool check_all)
{
    struct graph g;
    graph_init(&g, "chain");
    graph_add(&g, "seeds", "lines", "", os_join(&g.arena, p->dir, "seeds"));
    graph_add(&g, "joined", "join", "", "exprs=seeds");
    g.nodes[graph_add(&g, "model", "fold", steps, "expr=joined")].keep = keep;
    struct run_result r =
        run_with(p, &g, (struct run_options){.check = check_all, .keep_going = true, .threads = 2});
    assert_int_equal(r.failed, 0);
    graph_free(&g);
    return r;
}

static struct run_result run_chain(struct place *p, const char *steps, uint64_t keep)
{
    return run_chain_with(p, steps, keep, false);
}

static enum err_code count_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    ++*(unsigned *)arg;
    return OK;
}

static unsigned kept(struct place *p)
{
    unsigned n = 0;
    struct err e = {0};
    check(store_each_ref(p->store, "chain/model/at/", count_ref, &n, &e), &e);
    return n;
}

/* gc leaves of a chain what is asked for; the chain goes on from there, and gives what it would
 * have given without. */
static void test_chain_after_gc(void **state)
{
    static const struct {
        uint64_t keep;
        unsigned refs;
    } policies[] = {{0, 0}, {1, 7}, {3, 2}};
    for (int i = 0; i < 3; i++) {
        struct place p, scratch;
        struct err e = {0};
        struct gc_result collected;
        struct gc_options options = {.keep_runs = 1};
        place_new(&p);
        place_new(&scratch);
        write_file(&p, "seeds", "a\n");
        write_file(&scratch, "seeds", "a\n");
        run_chain(&p, "steps=6", policies[i].keep);
        assert_int_equal(kept(&p), policies[i].refs);
        check(store_gc(&collected, p.store, &options, &e), &e);
        assert_int_equal(collected.records_removed > 0, policies[i].keep != 1);
        struct run_result r = run_chain(&p, "steps=8", policies[i].keep);
        assert_int_equal(r.nodes[2].ran, 2);
        assert_int_equal(r.nodes[2].cached, 7);
        struct run_result s = run_chain(&scratch, "steps=8", 0);
        assert_memory_equal(&r.nodes[2].outputs[0], &s.nodes[2].outputs[0], DIGEST_SIZE);
        /* A shorter one needs a record that is gone, unless it was kept. */
        r = run_chain(&p, "steps=4", policies[i].keep);
        assert_int_equal(r.nodes[2].ran, policies[i].keep == 1 ? 0 : policies[i].keep ? 2 : 5);
        /* Checking makes segments again of which nothing is left; nothing more is kept for it. */
        unsigned before = kept(&p);
        check(store_gc(&collected, p.store, &options, &e), &e);
        run_chain_with(&p, "steps=4", policies[i].keep, true);
        assert_int_equal(kept(&p), before);
        struct fsck_result checked;
        check(store_fsck(&checked, p.store, false, NULL, NULL, &e), &e);
        assert_int_equal(checked.bad_records + checked.missing, 0);
        place_free(&p);
        place_free(&scratch);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_goes_on),
        cmocka_unit_test(test_chain_after_gc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
