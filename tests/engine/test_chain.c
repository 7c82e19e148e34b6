/* Chains: they go on from the last record that is there, after more steps, after gc, and with other
 * inputs as far as the segments read the same. EQLOOM_TEST_SEED. */
#include "action.pb-c.h"
#include "base/os.h"
#include "schemas/canonical.h"
#include "small.h"
#include "store/maintain.h"
#include "store/store.h"
#include "tests/unit.h"

#include <sys/stat.h>
#include <time.h>

PLACE_TEST(chain_goes_on)
{
    char *seeds = write_file(p, "seeds", "a\n");
    for (int pass = 0; pass < 3; pass++) {
        static const char *const steps[] = {"steps=3", "steps=6", "steps=4"};
        static const unsigned ran[] = {4, 3, 0};
        static const unsigned all[] = {4, 7, 5};
        struct graph *g = graph_new(p, "chain");
        graph_add(g, "seeds", "lines", "", seeds);
        graph_add(g, "joined", "join", "", "exprs=seeds");
        graph_add(g, "model", "fold", steps[pass], "expr=joined");
        struct run_result planned = plan(p, g);
        if (pass == 1) {
            assert_int_equal(planned.nodes[2].ran, 3);
            assert_string_equal(planned.nodes[2].why, "param steps: 3 -> 6");
        }
        struct run_result r = run(p, g);
        assert_int_equal(r.failed, 0);
        assert_int_equal(r.nodes[2].ran, ran[pass]);
        assert_int_equal(r.nodes[2].elements, all[pass]);
        /* The last is a prefix of the one before: a new action, and nothing to do for it. */
        assert_int_equal(r.nodes[2].state, pass == 2 ? NODE_CACHED : NODE_RAN);
        assert_int_equal(planned.nodes[2].state, pass == 2   ? NODE_CACHED
                                                 : pass == 1 ? NODE_RAN
                                                             : NODE_WAITING);
    }
}

static struct run_result run_chain_with(struct place *p, const char *steps, bool check_all)
{
    struct graph *g = graph_new(p, "chain");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "joined", "join", "", "exprs=seeds");
    graph_add(g, "model", "fold", steps, "expr=joined");
    struct run_result r =
        run_with(p, g, (struct run_options){.check = check_all, .keep_going = true, .threads = 2});
    assert_int_equal(r.failed, 0);
    return r;
}

static struct run_result run_chain(struct place *p, const char *steps)
{
    return run_chain_with(p, steps, false);
}

/* gc leaves the last record of a finished chain; the chain continues from there, and gives what it
 * would have given without. */
TEST(chain_after_gc)
{
    struct place p, scratch;
    struct digest head;
    place_new(&p);
    place_new(&scratch);
    write_file(&p, "seeds", "a\n");
    write_file(&scratch, "seeds", "a\n");
    run_chain(&p, "steps=6");
    assert_int_equal(store_ref(&head, p.store, "chain/model/at", NULL), ERR_NOTFOUND);
    assert_true(place_gc(&p) > 0);
    struct run_result r = run_chain(&p, "steps=8");
    assert_int_equal(r.nodes[2].ran, 2);
    assert_int_equal(r.nodes[2].cached, 7);
    struct run_result s = run_chain(&scratch, "steps=8");
    assert_memory_equal(&r.nodes[2].outputs[0], &s.nodes[2].outputs[0], DIGEST_SIZE);
    /* A shorter one needs a record that is gone. */
    assert_int_equal(run_chain(&p, "steps=4").nodes[2].ran, 5);
    /* Checking makes segments again of which nothing is left. */
    place_gc(&p);
    run_chain_with(&p, "steps=4", true);
    place_assert_sound(&p);
    place_free(&p);
    place_free(&scratch);
}

/* ---- segments that read the same ---- */

static struct run_result spell_with(struct place *p, const char *letters, const char *steps,
                                    bool check_all, bool only_plan)
{
    struct graph *g = graph_of(p, "chain", letters);
    graph_add(g, "joined", "join", "", "exprs=seeds");
    graph_add(g, "model", "spell", steps, "expr=joined");
    struct run_result r =
        only_plan
            ? plan(p, g)
            : run_with(p, g,
                       (struct run_options){.check = check_all, .keep_going = true, .threads = 2});
    assert_int_equal(r.failed, 0);
    return r;
}

static struct run_result spell(struct place *p, const char *letters, const char *steps)
{
    return spell_with(p, letters, steps, false, false);
}

TEST(chain_of_other_data)
{
    static const struct {
        const char *letters, *steps, *told;
        unsigned reused, ran;
    } runs[] = {
        {"abcdefgh", "steps=8", NULL, 0, 9},
        {"abcdeXgh", "steps=8",
         "; 3 of 9 segments affected, 6 unaffected (the same letters up to 5)", 6, 3},
        {"abcdeXgh more", "steps=8",
         "; 0 of 9 segments affected, 9 unaffected (the same letters up to 8)", 9, 0},
        {"abcdefgY", "steps=9", "; 2 of 10 segments affected, 8 unaffected (", 8, 2},
        {"", "steps=3", "; 3 of 4 segments affected, 1 unaffected (", 1, 3},
    };
    struct place p, scratch;
    place_new(&p);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct run_result planned = spell_with(&p, runs[i].letters, runs[i].steps, false, true);
        struct run_result r = spell(&p, runs[i].letters, runs[i].steps);
        assert_int_equal(r.nodes[2].reused, runs[i].reused);
        assert_int_equal(r.nodes[2].ran, runs[i].ran);
        assert_int_equal(r.nodes[2].cached, 0);
        assert_int_equal(r.nodes[2].state, runs[i].ran ? NODE_RAN : NODE_REUSED);
        if (runs[i].told)
            assert_non_null(strstr(r.nodes[2].why, runs[i].told));
        if (planned.nodes[2].state == NODE_WAITING) /* the text above it is not known yet */
            assert_string_equal(planned.nodes[2].why, "after joined");
        place_new(&scratch);
        struct run_result s = spell(&scratch, runs[i].letters, runs[i].steps);
        assert_memory_equal(&r.nodes[2].outputs[0], &s.nodes[2].outputs[0], DIGEST_SIZE);
        place_free(&scratch);
        assert_int_equal(spell(&p, runs[i].letters, runs[i].steps).nodes[2].state, NODE_CACHED);
    }
    place_free(&p);
}

/* Where the text is known, plan says which segments will be proved to stand. */
PLACE_TEST(plan_of_other_data)
{
    spell(p, "abcd", "steps=4");
    spell(p, "abXd", "steps=0");
    struct run_result planned = spell_with(p, "abXd", "steps=4", false, true);
    assert_int_equal(planned.nodes[2].state, NODE_RAN);
    assert_int_equal(planned.nodes[2].reused + planned.nodes[2].cached, 3);
    assert_int_equal(planned.nodes[2].ran, 2);
    assert_non_null(strstr(planned.nodes[2].why, "2 of 5 segments affected, 2 unaffected"));
}

/* Random edits, lengths and collections: the last record is that of an empty store, and
 * checking finds no difference. */
TEST(chain_of_random_data)
{
    struct rng r = rng_new(test_seed((uint64_t)time(NULL)), 0);
    struct place p, scratch;
    unsigned reused = 0, first = 0;
    place_new(&p);
    char letters[] = "aaaaaaaaaaaa";
    for (int i = 0; i < 30; i++) {
        char steps[32];
        letters[rng_below(&r, sizeof letters - 1)] = (char)('a' + rng_below(&r, 2));
        snprintf(steps, sizeof steps, "steps=%d", (int)rng_below(&r, 14));
        struct run_result now = spell_with(&p, letters, steps, false, false);
        reused += now.nodes[2].reused;
        first += now.nodes[2].ran == now.nodes[2].elements;
        place_new(&scratch);
        struct run_result s = spell(&scratch, letters, steps);
        assert_memory_equal(&now.nodes[2].outputs[0], &s.nodes[2].outputs[0], DIGEST_SIZE);
        place_free(&scratch);
        if (rng_below(&r, 4) == 0)
            spell_with(&p, letters, steps, true, false);
        if (rng_below(&r, 8) == 0)
            place_gc(&p);
    }
    assert_true(reused > 10);
    assert_true(first < 25);
    place_free(&p);
}

/* Chains of one text whose runs take turns, two of them at once, share what is known of what was
 * read: whoever wrote it, each ends as in an empty store. */
TEST(chains_share_what_was_read)
{
    struct rng r = rng_new(test_seed((uint64_t)time(NULL)), 1);
    struct place p;
    uint64_t reused = 0;
    char letters[2][9] = {"aaaaaaaa", "aaaaaaaa"};
    place_new(&p);
    for (int i = 0; i < 24; i++) {
        struct digest made[2];
        struct run_options o = {.keep_going = true, .threads = 2, .check = rng_below(&r, 5) == 0};
        char steps[2][32];
        struct graph *g = graph_new(&p, rng_below(&r, 2) ? "one" : "two");
        for (int k = 0; k < 2; k++) {
            letters[k][rng_below(&r, 8)] = (char)('a' + rng_below(&r, 2));
            snprintf(steps[k], sizeof steps[k], "steps=%d", (int)rng_below(&r, 10));
            char *name = arena_printf(g->arena, "%d", k);
            graph_add(g, arena_printf(g->arena, "seeds%d", k), "lines", "",
                      write_file(&p, name, letters[k]));
            graph_add(g, arena_printf(g->arena, "joined%d", k), "join", "",
                      arena_printf(g->arena, "exprs=seeds%d", k));
            graph_add(g, arena_printf(g->arena, "model%d", k), "spell", steps[k],
                      arena_printf(g->arena, "expr=joined%d", k));
        }
        struct run_result now = run_with(&p, g, o);
        assert_int_equal(now.failed, 0);
        reused += now.elements_reused;
        for (int k = 0; k < 2; k++)
            made[k] = now.nodes[3 * k + 2].outputs[0];
        for (int k = 0; k < 2; k++) {
            struct place scratch;
            place_new(&scratch);
            struct run_result s = spell(&scratch, letters[k], steps[k]);
            assert_memory_equal(&made[k], &s.nodes[2].outputs[0], DIGEST_SIZE);
            place_free(&scratch);
        }
        if (rng_below(&r, 6) == 0)
            place_gc(&p);
    }
    assert_true(reused > 0);
    place_free(&p);
}

/* With the records in between gone, a chain of other data continues from the last one. */
PLACE_TEST(other_data_after_gc)
{
    spell(p, "abcdefgh", "steps=8");
    place_gc(p);
    struct run_result r = spell(p, "abcdefghX", "steps=9");
    assert_int_equal(r.nodes[2].reused, 9);
    assert_int_equal(r.nodes[2].ran, 1);
}

/* The action of the chain as a whole, made to name another record. */
PLACE_TEST(check_finds_a_forged_chain)
{
    struct err e = {0};
    struct arena a = {0};
    struct span bytes;
    ProtobufCMessage *m;
    write_file(p, "seeds", "a\n");
    struct run_result r = run_chain(p, "steps=3");
    struct digest key = r.nodes[2].key, other = r.nodes[1].outputs[0];
    check(store_action(&bytes, p->store, &key, &a, &e), &e);
    check(canonical_unpack(&m, &a, &eqloom__action__descriptor, bytes, &e), &e);
    memcpy(((Eqloom__Action *)m)->outputs[0]->output_ids.data, other.bytes, DIGEST_SIZE);
    check(canonical_pack(&bytes, &a, m, &e), &e);
    struct store_batch *b = store_batch_new(p->store);
    check(store_batch_action(b, &key, bytes, &e), &e);
    check(store_batch_commit(b, &e), &e);
    store_batch_free(b);
    struct graph *g = graph_new(p, "chain");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "joined", "join", "", "exprs=seeds");
    graph_add(g, "model", "fold", "steps=3", "expr=joined");
    r = run_with(p, g, (struct run_options){.check = true, .keep_going = true, .threads = 1});
    assert_int_equal(r.nodes[2].state, NODE_FAILED);
    arena_free(&a);
}
