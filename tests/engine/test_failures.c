/* Runs that do not end well: failures, interruption; and that results depend on nothing but the
 * inputs. */
#include "base/os.h"
#include "engine/cache/action.h"
#include "schemas/action.pb-c.h"
#include "schemas/canonical.h"
#include "small.h"
#include "store/store.h"
#include "tests/unit.h"

#include <sys/stat.h>

/* ---- failures ---- */

PLACE_TEST(failed_element)
{
    struct graph *g = graph_of(p, "fails", "a\nbad one\nc\nd\nbad two\n");
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    graph_add(g, "below", "first", "", "exprs=upper");
    graph_add(g, "beside", "join", "", "exprs=seeds");
    struct run_result r = run(p, g);
    assert_int_equal(r.nodes[1].state, NODE_FAILED);
    assert_int_equal(r.nodes[1].failed, 2);
    assert_int_equal(r.nodes[1].ran, 3);
    assert_int_equal(r.failed, 2);
    assert_non_null(strstr(r.nodes[1].failure, "upper, element "));
    assert_non_null(strstr(r.nodes[1].failure, "bad "));
    assert_non_null(strstr(r.nodes[1].failure, ": it is bad"));
    assert_int_equal(r.nodes[2].state, NODE_SKIPPED);
    assert_int_equal(r.nodes[3].state, NODE_RAN);
    /* What did not fail is kept; what failed is tried again. */
    r = run(p, g);
    assert_int_equal(r.nodes[1].cached, 3);
    assert_int_equal(r.nodes[1].failed, 2);
    assert_int_equal(r.nodes[3].state, NODE_CACHED);
    write_file(p, "seeds", "a\ngood one\nc\nd\ngood two\n");
    r = run(p, g);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.nodes[1].ran, 2);
}

/* plan runs cheap elements; when one fails, the run will say so. */
PLACE_TEST(plan_of_failing_element)
{
    struct graph *g = graph_of(p, "fails", "a\nb\n");
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    assert_int_equal(run(p, g).failed, 0);
    write_file(p, "seeds", "a\nbad\n");
    struct run_result r = plan(p, g);
    assert_int_equal(r.nodes[1].state, NODE_RAN);
    assert_int_equal(r.nodes[1].ran, 1);
}

static void assert_ref(struct place *p, const char *name, enum err_code expected)
{
    struct digest id;
    assert_int_equal(store_ref(&id, p->store, name, NULL), expected);
}

/* What renamed and removed nodes made goes with the first run that is done, whatever became of the
 * runs between. */
PLACE_TEST(old_refs)
{
    write_file(p, "seeds", "a\nb\n");
    struct graph *before = graph_new(p, "refs");
    graph_add(before, "seeds", "lines", "", "seeds");
    graph_add(before, "upper", "upper", "", "exprs=seeds");
    run(p, before);
    assert_ref(p, "refs/upper", OK);

    struct graph *after = graph_new(p, "refs");
    graph_add(after, "seeds", "lines", "", "seeds");
    graph_add(after, "renamed", "upper", "", "exprs=seeds");
    write_file(p, "seeds", "a\nbad\n");
    assert_true(run(p, after).failed);
    assert_ref(p, "refs/upper", OK);
    assert_true(run(p, after).failed);
    write_file(p, "seeds", "a\nc\n");
    assert_false(run(p, after).failed);
    assert_ref(p, "refs/upper", ERR_NOTFOUND);
    assert_ref(p, "refs/renamed", OK);

    struct graph *less = graph_new(p, "refs");
    graph_add(less, "seeds", "lines", "", "seeds");
    assert_int_equal(run(p, less).nodes_ran, 0);
    assert_ref(p, "refs/renamed", ERR_NOTFOUND);
    assert_ref(p, "refs/seeds", OK);
}

PLACE_TEST(stop_at_the_first_failure)
{
    struct graph *g = graph_of(p, "stops", numbered(p, 500, "bad\n"));
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    graph_add(g, "beside", "join", "", "exprs=seeds");
    struct run_result r = run_with(p, g, (struct run_options){.threads = 1});
    assert_int_equal(r.nodes[1].state, NODE_FAILED);
    assert_int_equal(r.nodes[1].ran, 0);
    assert_int_equal(r.nodes[2].state, NODE_RAN);
}

PLACE_TEST(bad_source_changes_nothing)
{
    struct err e = {0};
    struct run_result r;
    struct run_options o = {.threads = 2};
    struct digest ref;
    struct graph *g = graph_new(p, "bad");
    graph_add(g, "good", "lines", "", write_file(p, "good", "a\n"));
    graph_add(g, "wrong", "lines", "", write_file(p, "wrong", "a\n! oops\n"));
    assert_int_equal(job_run(&r, &p->arena, &g->job, p->store, &o, &e), ERR_INPUT);
    assert_int_equal(e.line, 2);
    assert_int_equal(store_ref(&ref, p->store, "bad/good", NULL), ERR_NOTFOUND);
}

/* The state of a job's newest run. */
static enum err_code note_run(void *arg, const char *run, struct span value, struct err *e)
{
    struct arena a = {0};
    const Eqloom__Run *m;
    check(canonical_unpack(&m, &a, &eqloom__run__descriptor, value, e), e);
    snprintf(arg, 32, "%s", m->state);
    arena_free(&a);
    return ERR_CANCELLED;
}

/* The store refuses what a node made (its ref has no name that a ref may have): the run ends, and
 * what it had announced as running is said to have failed. */
PLACE_TEST(fatal_error_is_recorded)
{
    struct run_result r;
    struct err e = {0};
    char said[32] = "";
    struct graph *g = graph_of(p, "fatal", "a\nb\n");
    graph_add(g, "joined", "join", "", "exprs=seeds");
    struct job_ref ref = {.name = "", .target = {1, 0}};
    g->job.refs = &ref;
    g->job.n_refs = 1;
    struct run_options o = {.keep_going = true, .threads = 2};
    assert_int_equal(job_run(&r, &p->arena, &g->job, p->store, &o, &e), ERR_INPUT);
    store_each_run(p->store, "fatal", note_run, said, NULL);
    assert_string_equal(said, "failed");
}

/* A source that gives something else under --check fails alone: what is below is checked against
 * what is stored, and nothing is written. */
PLACE_TEST(check_of_a_source)
{
    struct graph *g = graph_of(p, "source", "a\nb\n");
    graph_add(g, "drifts", "drifts", "", write_file(p, "drifting", "a\n"));
    graph_add(g, "upper", "upper", "", "exprs=drifts");
    graph_add(g, "joined", "join", "", "exprs=seeds");
    struct run_result r = run(p, g);
    struct digest was = r.nodes[1].outputs[0];
    atomic_fetch_add(&ops_drift, 1);
    r = run_with(p, g, (struct run_options){.check = true, .keep_going = true});
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.nodes[1].state, NODE_FAILED);
    assert_non_null(strstr(r.nodes[1].failure, "op drifts is not deterministic"));
    for (int i = 0; i < 4; i++)
        if (i != 1)
            assert_int_equal(r.nodes[i].state, i ? NODE_RAN : NODE_READ);
    r = run(p, g);
    assert_int_equal(r.nodes_ran, 0);
    assert_true(digest_equal(&was, &r.nodes[1].outputs[0]));
}

PLACE_TEST(check_finds_what_is_not_deterministic)
{
    struct graph *g = graph_of(p, "drift", "a\nb\n");
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    graph_add(g, "count", "count", "", "exprs=seeds");
    graph_add(g, "joined", "join", "", "exprs=seeds");
    graph_add(g, "model", "fold", "", "expr=joined");
    struct run_result r = run(p, g);
    struct digest was = r.nodes[2].outputs[0];
    r = run_with(p, g, (struct run_options){.check = true, .keep_going = true});
    assert_int_equal(r.failed, 0);
    atomic_fetch_add(&ops_drift, 1);
    r = run_with(p, g, (struct run_options){.check = true, .keep_going = true});
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.nodes[2].state, NODE_FAILED);
    assert_non_null(strstr(r.nodes[2].failure, "op count is not deterministic"));
    assert_int_equal(r.nodes[1].state, NODE_RAN);
    r = run(p, g);
    assert_int_equal(r.nodes_ran, 0);
    assert_true(digest_equal(&was, &r.nodes[2].outputs[0]));
}

static atomic_int more;

/* As many records as `more` says. */
static enum err_code several_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code = OK;
    for (int i = 0; i < atomic_load(&more) && !code; i++)
        code = toy_emit(ctx, "exprs", "same", e);
    return code;
}

/* An element that gives fewer or more records than before, the common ones being the same. */
PLACE_TEST(check_counts_records)
{
    static const int counts[][2] = {{1, 2}, {2, 1}, {0, 1}, {1, 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct op several = *op_find("first");
        several.run = several_run;
        several.version = 100 + (uint32_t)i;
        struct graph *g = graph_of(p, "several", "a\n");
        graph_add(g, "several", "first", "", "exprs=seeds");
        g->nodes[1].op = &several;
        atomic_store(&more, counts[i][0]);
        struct run_result r = run(p, g);
        assert_int_equal(r.failed, 0);
        r = run_with(p, g, (struct run_options){.check = true, .keep_going = true});
        assert_int_equal(r.failed, 0);
        atomic_store(&more, counts[i][1]);
        r = run_with(p, g, (struct run_options){.check = true, .keep_going = true});
        assert_int_equal(r.failed, 1);
        const char *said = arena_printf(&p->arena, "it returned %d records for exprs, now %d",
                                        counts[i][0], counts[i][1]);
        assert_non_null(strstr(r.nodes[1].failure, said));
        assert_int_equal(run(p, g).nodes_ran, 0);
    }
}

/* ---- threads, interruption ---- */

TEST(threads_do_not_show)
{
    struct digest outputs[2][6];
    for (unsigned pass = 0; pass < 2; pass++) {
        struct place p;
        place_new(&p);
        /* more than the window of a map */
        struct graph *g = small_graph(&p, numbered(&p, 6000, ""), "g/n t\n");
        struct run_result r =
            run_with(&p, g, (struct run_options){.threads = pass ? 4 : 1, .keep_going = true});
        assert_int_equal(r.failed, 0);
        for (int i = 0; i < 6; i++)
            outputs[pass][i] = r.nodes[i].outputs[0];
        place_free(&p);
    }
    assert_memory_equal(outputs[0], outputs[1], sizeof outputs[0]);
}

PLACE_TEST(parallel_ops_run_alone)
{
    struct graph *g = graph_of(p, "alone", numbered(p, 40, ""));
    graph_add(g, "upper", "upper", "ms=1", "exprs=seeds");
    graph_add(g, "alone", "alone", "", "exprs=seeds");
    graph_add(g, "upper2", "upper", "ms=1 repeat=2", "exprs=seeds");
    atomic_store(&ops_beside, 0);
    struct run_result r = run_with(p, g, (struct run_options){.threads = 3});
    assert_int_equal(r.failed, 0);
    assert_int_equal(atomic_load(&ops_beside), 0);
}

/* As many as there are cards, while an op that needs all threads has those. */
PLACE_TEST(a_card_each)
{
    struct graph *g = graph_of(p, "cards", "a\nb\n");
    for (int i = 0; i < 6; i++) {
        char name[8], params[16];
        snprintf(name, sizeof name, "card%d", i);
        snprintf(params, sizeof params, "prefix=%d", i);
        g->nodes[graph_add(g, name, "card", params, "exprs=seeds")].cards = 1 << 0 | 1 << 2;
    }
    graph_add(g, "alone", "alone", "", "exprs=seeds");
    atomic_store(&ops_on_cards, 0);
    struct run_result r = run_with(p, g, (struct run_options){.threads = 4});
    assert_int_equal(r.failed, 0);
    assert_int_equal(atomic_load(&ops_on_cards), 6);
}

/* `alone` and `count` may not start beside `slow`, so what they take is at least its time less than
 * what the run takes; half of that is left for looking them up while it runs. */
PLACE_TEST(waiting_is_no_cost)
{
    enum { SLOW_NS = 800000000 };
    struct err e = {0};
    struct action_result made;
    struct graph *g = graph_of(p, "queue", "a\n");
    uint32_t slow = graph_add(g, "slow", "upper", "ms=800", "exprs=seeds");
    uint32_t waits[] = {graph_add(g, "alone", "alone", "", "exprs=seeds"),
                        graph_add(g, "count", "count", "", "exprs=seeds")};
    struct run_result r = run_with(p, g, (struct run_options){.threads = 4});
    assert_int_equal(r.failed, 0);
    assert_true(r.nodes[slow].wall_ns >= SLOW_NS);
    uint64_t max_ns = r.wall_ns - SLOW_NS / 2;
    for (size_t i = 0; i < 2; i++) {
        const struct node_result *n = &r.nodes[waits[i]];
        assert_true(n->wall_ns < max_ns);
        check(action_read(&made, &p->arena, p->store, g->nodes[waits[i]].op, &n->key, &e), &e);
        assert_true(made.cost_ns < max_ns);
    }
}

PLACE_TEST(interrupt_and_resume)
{
    struct graph *g = graph_of(p, "stop", numbered(p, 100, ""));
    graph_add(g, "wait", "wait", "", "exprs=seeds");
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    graph_add(g, "below", "first", "", "exprs=upper");
    ops_until_signal = 10; /* one thread waits, so that the other is the only one at `upper` */
    struct run_result r = run_with(
        p, g, (struct run_options){.threads = 2, .keep_going = true, .interrupted = &ops_signals});
    ops_signals = 0;
    assert_true(r.interrupted);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.nodes[1].state, NODE_SKIPPED);
    uint64_t done = r.nodes[2].ran;
    assert_in_range(done, 10, 11);

    g = graph_new(p, "stop");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    graph_add(g, "below", "first", "", "exprs=upper");
    r = run(p, g);
    assert_int_equal(r.nodes[1].cached, done);
    assert_int_equal(r.nodes[1].ran, 100 - done);
    assert_false(r.interrupted);
}
