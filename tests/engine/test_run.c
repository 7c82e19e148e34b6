/* The engine against a real store, with small ops: what runs again after what, failures, damage,
 * interruption, and that results depend on nothing but the inputs. */
#include "place.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/key.h"
#include "engine/source.h"
#include "schemas/canonical.h"
#include "schemas/expr.pb-c.h"
#include "store/maintain.h"
#include "store/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void small_graph(struct graph *g, const char *lines, const char *names)
{
    graph_init(g, "small");
    graph_add(g, "seeds", "lines", "", lines);
    graph_add(g, "names", "names", "", names);
    graph_add(g, "upper", "upper", "repeat=2", "exprs=seeds names=names");
    graph_add(g, "first", "first", "", "exprs=upper");
    graph_add(g, "joined", "join", "", "exprs=first");
    graph_add(g, "model", "fold", "steps=3", "expr=joined");
}

enum { SEEDS, NAMES, UPPER, FIRST, JOINED, MODEL };

static const char *text_of(struct place *p, const struct digest *id)
{
    struct err e = {0};
    ProtobufCMessage *m;
    check(store_get_message(&m, p->store, id, KIND_EXPR, &p->arena, &e), &e);
    return ((Eqloom__Expr *)m)->prefix;
}

/* ---- keys ---- */

static void test_key_is_pinned(void **state)
{
    struct graph g;
    struct err e = {0};
    struct key key;
    char hex[DIGEST_HEX];
    struct digest id = {{1, 2, 3}};
    graph_init(&g, "pin");
    graph_add(&g, "seeds", "lines", "", "x");
    uint32_t upper = graph_add(&g, "upper", "upper", "repeat=7", "exprs=seeds");
    struct key_input inputs[] = {{"names", NULL, 0}, {"exprs", &id, 1}};
    struct key_spec spec = {
        .node = &g.nodes[upper], .numerics = "any", .inputs = inputs, .n_inputs = 2};
    check(key_make(&key, &g.arena, &spec, &e), &e);
    assert_string_equal(digest_hex(hex, &key.digest),
                        "183179d77d67aacb4a667e4e1b36443249073830c051883aaea5ebedc3582f68");

    uint32_t fold = graph_add(&g, "fold", "fold", "", "expr=upper");
    struct key_input input = {"expr", &id, 1};
    spec = (struct key_spec){.node = &g.nodes[fold],
                             .numerics = "cpu-test",
                             .inputs = &input,
                             .n_inputs = 1,
                             .segment = "steps 0-5",
                             .previous = &id};
    check(key_make(&key, &g.arena, &spec, &e), &e);
    assert_string_equal(digest_hex(hex, &key.digest),
                        "47e7e3061b498f0962570204b1cc8bae970213217b4ecfe43371cb89b43e45eb");
    assert_string_equal(key.message->numerics, "cpu-test");
    g.nodes[fold].units = "tiles";
    check(key_make(&key, &g.arena, &spec, &e), &e);
    assert_string_equal(key.message->numerics, "cpu-test, tiles");
    graph_free(&g);
}

static void test_key_ignores_names_and_order(void **state)
{
    struct graph g;
    struct err e = {0};
    struct key a, b, c;
    struct digest id = {{9}}, other = {{8}};
    graph_init(&g, "keys");
    graph_add(&g, "seeds", "lines", "", "x");
    uint32_t one = graph_add(&g, "one", "upper", "ms=3 repeat=7", "exprs=seeds");
    uint32_t two = graph_add(&g, "two", "upper", "repeat=7 ms=3", "exprs=seeds");
    struct key_input in[] = {{"exprs", &id, 1}, {"names", &other, 1}};
    struct key_input turned[] = {{"names", &other, 1}, {"exprs", &id, 1}};
    struct key_spec s = {.node = &g.nodes[one], .numerics = "x", .inputs = in, .n_inputs = 2};
    check(key_make(&a, &g.arena, &s, &e), &e);
    s = (struct key_spec){.node = &g.nodes[two], .numerics = "y", .inputs = turned, .n_inputs = 2};
    check(key_make(&b, &g.arena, &s, &e), &e);
    assert_true(digest_equal(&a.digest, &b.digest));
    g.nodes[two].units = "tiles"; /* arithmetic enters for ops that depend on it alone */
    check(key_make(&b, &g.arena, &s, &e), &e);
    assert_true(digest_equal(&a.digest, &b.digest));
    turned[0].ids = &id;
    check(key_make(&c, &g.arena, &s, &e), &e);
    assert_false(digest_equal(&a.digest, &c.digest));
    graph_free(&g);
}

/* ---- caching ---- */

static void test_second_run_does_nothing(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    small_graph(&g, write_file(&p, "seeds", "a x\nb y\nc z\n"), write_file(&p, "names", "g/n t\n"));
    struct run_result first = run(&p, &g);
    assert_int_equal(first.failed, 0);
    assert_int_equal(first.nodes_ran, 6);
    assert_int_equal(first.elements, 3 + 6 + 4);
    assert_int_equal(first.elements_ran, 13);
    assert_string_equal(text_of(&p, &first.nodes[JOINED].outputs[0]), "A,A,B,B,C,C,");
    struct digest ref;
    assert_int_equal(store_ref(&ref, p.store, "small/model", NULL), OK);
    assert_true(digest_equal(&ref, &first.nodes[MODEL].outputs[0]));

    int before = atomic_load(&ops_ran), prepared = atomic_load(&ops_prepared);
    struct run_result again = run(&p, &g);
    assert_int_equal(atomic_load(&ops_ran), before);
    assert_int_equal(atomic_load(&ops_prepared), prepared);
    assert_int_equal(again.nodes_ran, 0);
    assert_int_equal(again.elements_ran, 0);
    assert_int_equal(again.elements, 13);
    assert_int_equal(again.elements_cached, 13);
    assert_string_equal(again.run, first.run); /* nothing to record */
    assert_int_equal(again.nodes[SEEDS].state, NODE_READ);
    assert_int_equal(again.nodes[UPPER].state, NODE_CACHED);
    struct run_result planned = plan(&p, &g);
    for (size_t i = 0; i < g.job.n_nodes; i++)
        assert_true(planned.nodes[i].state == NODE_CACHED || planned.nodes[i].state == NODE_READ);
    graph_free(&g);
    place_free(&p);
}

static void test_cosmetic_changes_run_nothing(void **state)
{
    struct place p;
    struct graph g, h;
    place_new(&p);
    char *seeds = write_file(&p, "seeds", "a\nb\n"), *names = write_file(&p, "names", "g/n t\n");
    small_graph(&g, seeds, names);
    run(&p, &g);
    write_file(&p, "seeds", "# a comment\na\nb\n");
    graph_init(&h, "small");
    graph_add(&h, "renamed", "lines", "", seeds);
    graph_add(&h, "names", "names", "", names);
    graph_add(&h, "upper2", "upper", "repeat=2", "exprs=renamed names=names");
    graph_add(&h, "first", "first", "", "exprs=upper2");
    struct run_result planned = plan(&p, &h);
    assert_int_equal(planned.nodes[0].state, NODE_READ);
    assert_int_equal(planned.nodes[2].state, NODE_CACHED);
    struct run_result r = run(&p, &h);
    assert_int_equal(r.nodes_ran, 0);
    assert_int_equal(r.elements_ran, 0);
    assert_int_equal(r.nodes[0].state, NODE_READ);
    struct digest ref;
    assert_int_equal(store_ref(&ref, p.store, "small/upper2", NULL), OK);
    assert_int_equal(store_ref(&ref, p.store, "small/upper", NULL), ERR_NOTFOUND);
    graph_free(&g);
    graph_free(&h);
    place_free(&p);
}

static void test_one_element_changed(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    char *names = write_file(&p, "names", "g/n t\n");
    small_graph(&g, write_file(&p, "seeds", "a x\nb y\nc z\nd w\n"), names);
    run(&p, &g);
    write_file(&p, "seeds", "a x\nb changed\nc z\nd w\n");
    struct run_result planned = plan(&p, &g);
    assert_int_equal(planned.nodes[UPPER].state, NODE_RAN);
    assert_int_equal(planned.nodes[UPPER].ran, 1);
    assert_int_equal(planned.nodes[UPPER].cached, 3);
    assert_string_equal(planned.nodes[UPPER].why,
                        "exprs changed: 1 added (b changed), 1 removed (b y)");
    /* What took next to no time is tried: below it, early cutoff is foreseen. */
    assert_int_equal(planned.nodes[FIRST].state, NODE_RAN);
    assert_int_equal(planned.nodes[FIRST].ran, 2);
    assert_int_equal(planned.nodes[JOINED].state, NODE_CACHED);

    int before = atomic_load(&ops_ran);
    struct run_result r = run(&p, &g);
    assert_int_equal(r.nodes[SEEDS].state, NODE_RAN);
    assert_int_equal(r.nodes[UPPER].ran, 1);
    assert_int_equal(r.nodes[UPPER].cached, 3);
    assert_int_equal(r.nodes[FIRST].ran, 2);
    /* Early cutoff: the first letters are what they were. */
    assert_int_equal(r.nodes[JOINED].state, NODE_CACHED);
    assert_int_equal(r.nodes[MODEL].state, NODE_CACHED);
    assert_int_equal(atomic_load(&ops_ran) - before, 1 + 1 + 2);
    graph_free(&g);
    place_free(&p);
}

static void test_why_names_the_edited_rule(void **state)
{
    struct place p;
    struct graph g;
    struct err e = {0};
    char *text;
    place_new(&p);
    small_graph(&g, write_file(&p, "seeds", "a\nb\n"),
                write_file(&p, "names", "g/one t\ng/two u\ng/three v\n"));
    run(&p, &g);
    write_file(&p, "names", "g/one t\ng/two edited\ng/three v\ng/four w\n");
    struct run_result planned = plan(&p, &g);
    assert_string_equal(planned.nodes[UPPER].why,
                        "names changed: 1 edited (g/two), 1 added (g/four)");
    check(job_why(&text, &p.arena, &g.job, UPPER, p.store, &e), &e);
    assert_non_null(strstr(text, "would run (2 of 2 elements): names changed: 1 edited (g/two)"));
    assert_non_null(strstr(text, "first (would run)"));
    run(&p, &g);
    check(job_why(&text, &p.arena, &g.job, UPPER, p.store, &e), &e);
    assert_non_null(strstr(text, "now       up to date"));
    assert_non_null(strstr(text, "ran, 2 of 2 elements ran: names changed: 1 edited (g/two)"));
    graph_free(&g);
    graph_init(&g, "small");
    graph_add(&g, "seeds", "lines", "", os_join(&p.arena, p.dir, "seeds"));
    graph_add(&g, "names", "names", "", os_join(&p.arena, p.dir, "names"));
    graph_add(&g, "upper", "upper", "repeat=3", "exprs=seeds names=names");
    planned = plan(&p, &g);
    assert_string_equal(planned.nodes[UPPER].why, "param repeat: 2 -> 3");
    graph_free(&g);
    place_free(&p);
}

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

static void test_only_targets(void **state)
{
    struct place p;
    struct graph g;
    uint32_t target = FIRST;
    place_new(&p);
    small_graph(&g, write_file(&p, "seeds", "a\n"), write_file(&p, "names", "g/n t\n"));
    struct run_options o = {.keep_going = true, .targets = &target, .n_targets = 1};
    struct run_result r = run_with(&p, &g, o);
    assert_int_equal(r.nodes_ran, 4);
    assert_int_equal(r.nodes[JOINED].state, NODE_WAITING);
    assert_false(r.interrupted);
    r = run(&p, &g);
    assert_int_equal(r.nodes_ran, 2);
    graph_free(&g);
    place_free(&p);
}

/* ---- source files ---- */

static struct source_files scan(struct place *p, struct graph *g)
{
    struct source_files files;
    struct err e = {0};
    struct store_batch *b = store_batch_new(p->store);
    check(source_scan(&files, &p->arena, &g->nodes[0], p->store, b, &e), &e);
    check(store_batch_commit(b, &e), &e);
    store_batch_free(b);
    return files;
}

static void test_unchanged_files_are_not_read(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    char *path = write_file(&p, "seeds", "one");
    graph_init(&g, "files");
    graph_add(&g, "seeds", "lines", "", path);
    struct source_files first = scan(&p, &g);
    assert_int_equal(first.read, 1);
    /* Young: it may change without a sign, so it is read again. */
    assert_int_equal(scan(&p, &g).read, 1);
    struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    usleep(2100000);
    assert_int_equal(scan(&p, &g).read, 1);
    struct source_files known = scan(&p, &g);
    assert_int_equal(known.read, 0);
    assert_true(digest_equal(&known.files[0].id, &first.files[0].id));
    assert_null(known.files[0].text.text);
    /* Same size, same inode, mtime set back: the time of the change itself tells. */
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_true(fputs("two", f) >= 0);
    fclose(f);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    struct source_files changed = scan(&p, &g);
    assert_int_equal(changed.read, 1);
    assert_false(digest_equal(&changed.files[0].id, &first.files[0].id));
    graph_free(&g);
    place_free(&p);
}

/* ---- what is printed ---- */

static char *printed(struct place *p, struct graph *g, bool json)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    run_with(p, g, (struct run_options){.keep_going = true, .json = json, .events = f});
    fclose(f);
    char *copy = arena_strdup(&p->arena, text);
    free(text);
    return copy;
}

static void test_events(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    graph_init(&g, "events");
    graph_add(&g, "seeds", "lines", "", write_file(&p, "seeds", "a \"quoted\"\nbad\n"));
    graph_add(&g, "upper", "upper", "", "exprs=seeds");
    char *text = printed(&p, &g, true);
    assert_non_null(strstr(text, "{\"event\":\"run_start\",\"job\":\"events\""));
    assert_non_null(strstr(text, "{\"event\":\"node_start\",\"node\":\"upper\",\"op\":\"upper\","
                                 "\"elements\":2,"));
    assert_non_null(
        strstr(text, "{\"event\":\"element_failed\",\"node\":\"upper\",\"element\":1,"));
    assert_non_null(strstr(text, "bad): it is bad\"}"));
    const char *last = strrchr(arena_strndup(&p.arena, text, strlen(text) - 1), '\n') + 1;
    assert_ptr_equal(strstr(last, "{\"event\":\"summary\",\"job\":\"events\",\"nodes\":2,"
                                  "\"nodes_ran\":1,\"sources_read\":0,\"elements\":2,"
                                  "\"elements_ran\":1,\"elements_cached\":0,"
                                  "\"elements_reused\":0,\"failed\":1,"),
                     last);
    text = printed(&p, &g, false);
    assert_non_null(strstr(text, "seeds: read\nFAILED upper, element 1 ("));
    assert_non_null(strstr(text, "upper: failed, 0 of 2 elements, 1 failed"));
    graph_free(&g);
    place_free(&p);
}

/* ---- failures ---- */

static void test_failed_element(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    char *seeds = write_file(&p, "seeds", "a\nbad one\nc\nd\nbad two\n");
    graph_init(&g, "fails");
    graph_add(&g, "seeds", "lines", "", seeds);
    graph_add(&g, "upper", "upper", "", "exprs=seeds");
    graph_add(&g, "below", "first", "", "exprs=upper");
    graph_add(&g, "beside", "join", "", "exprs=seeds");
    struct run_result r = run(&p, &g);
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
    r = run(&p, &g);
    assert_int_equal(r.nodes[1].cached, 3);
    assert_int_equal(r.nodes[1].failed, 2);
    assert_int_equal(r.nodes[3].state, NODE_CACHED);
    write_file(&p, "seeds", "a\ngood one\nc\nd\ngood two\n");
    r = run(&p, &g);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.nodes[1].ran, 2);
    graph_free(&g);
    place_free(&p);
}

static void test_stop_at_the_first_failure(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    struct buf b = {0};
    buf_puts(&b, "bad\n");
    for (int i = 0; i < 500; i++)
        buf_printf(&b, "x%d\n", i);
    char *seeds = write_file(&p, "seeds", b.data);
    buf_free(&b);
    graph_init(&g, "stops");
    graph_add(&g, "seeds", "lines", "", seeds);
    graph_add(&g, "upper", "upper", "", "exprs=seeds");
    graph_add(&g, "beside", "join", "", "exprs=seeds");
    struct run_result r = run_with(&p, &g, (struct run_options){.threads = 1});
    assert_int_equal(r.nodes[1].state, NODE_FAILED);
    assert_int_equal(r.nodes[1].ran, 0);
    assert_int_equal(r.nodes[2].state, NODE_RAN);
    graph_free(&g);
    place_free(&p);
}

static void test_bad_source_changes_nothing(void **state)
{
    struct place p;
    struct graph g;
    struct err e = {0};
    struct run_result r;
    struct run_options o = {.threads = 2};
    struct digest ref;
    place_new(&p);
    graph_init(&g, "bad");
    graph_add(&g, "good", "lines", "", write_file(&p, "good", "a\n"));
    graph_add(&g, "wrong", "lines", "", write_file(&p, "wrong", "a\n! oops\n"));
    assert_int_equal(job_run(&r, &p.arena, &g.job, p.store, &o, &e), ERR_INPUT);
    assert_int_equal(e.line, 2);
    assert_int_equal(store_ref(&ref, p.store, "bad/good", NULL), ERR_NOTFOUND);
    graph_free(&g);
    place_free(&p);
}

/* The state of a job's newest run. */
static enum err_code note_run(void *arg, const char *run, struct span value, struct err *e)
{
    struct arena a = {0};
    ProtobufCMessage *m;
    check(canonical_unpack(&m, &a, &eqloom__run__descriptor, value, e), e);
    snprintf(arg, 32, "%s", ((const Eqloom__Run *)m)->state);
    arena_free(&a);
    return ERR_CANCELLED;
}

/* The store refuses what a node made (its ref has no name that a ref may have): the run ends, and
 * what it had announced as running is said to have failed. */
static void test_fatal_error_is_recorded(void **state)
{
    struct place p;
    struct graph g;
    struct run_result r;
    struct err e = {0};
    char said[32] = "";
    place_new(&p);
    graph_init(&g, "fatal");
    graph_add(&g, "seeds", "lines", "", write_file(&p, "seeds", "a\nb\n"));
    graph_add(&g, "joined", "join", "", "exprs=seeds");
    struct job_ref ref = {.name = "", .target = {1, 0}};
    g.job.refs = &ref;
    g.job.n_refs = 1;
    struct run_options o = {.keep_going = true, .threads = 2};
    assert_int_equal(job_run(&r, &p.arena, &g.job, p.store, &o, &e), ERR_INPUT);
    store_each_run(p.store, "fatal", note_run, said, NULL);
    assert_string_equal(said, "failed");
    graph_free(&g);
    place_free(&p);
}

/* A source that gives something else under --check fails alone: what is below is checked against
 * what is stored, and nothing is written. */
static void test_check_of_a_source(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    graph_init(&g, "source");
    graph_add(&g, "seeds", "lines", "", write_file(&p, "seeds", "a\nb\n"));
    graph_add(&g, "drifts", "drifts", "", write_file(&p, "drifting", "a\n"));
    graph_add(&g, "upper", "upper", "", "exprs=drifts");
    graph_add(&g, "joined", "join", "", "exprs=seeds");
    struct run_result r = run(&p, &g);
    struct digest was = r.nodes[1].outputs[0];
    atomic_fetch_add(&ops_drift, 1);
    r = run_with(&p, &g, (struct run_options){.check = true, .keep_going = true});
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.nodes[1].state, NODE_FAILED);
    assert_non_null(strstr(r.nodes[1].failure, "op drifts is not deterministic"));
    for (int i = 0; i < 4; i++)
        if (i != 1)
            assert_int_equal(r.nodes[i].state, i ? NODE_RAN : NODE_READ);
    r = run(&p, &g);
    assert_int_equal(r.nodes_ran, 0);
    assert_true(digest_equal(&was, &r.nodes[1].outputs[0]));
    graph_free(&g);
    place_free(&p);
}

static void test_check_finds_what_is_not_deterministic(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    graph_init(&g, "drift");
    graph_add(&g, "seeds", "lines", "", write_file(&p, "seeds", "a\nb\n"));
    graph_add(&g, "upper", "upper", "", "exprs=seeds");
    graph_add(&g, "count", "count", "", "exprs=seeds");
    graph_add(&g, "joined", "join", "", "exprs=seeds");
    graph_add(&g, "model", "fold", "", "expr=joined");
    struct run_result r = run(&p, &g);
    struct digest was = r.nodes[2].outputs[0];
    r = run_with(&p, &g, (struct run_options){.check = true, .keep_going = true});
    assert_int_equal(r.failed, 0);
    atomic_fetch_add(&ops_drift, 1);
    r = run_with(&p, &g, (struct run_options){.check = true, .keep_going = true});
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.nodes[2].state, NODE_FAILED);
    assert_non_null(strstr(r.nodes[2].failure, "op count is not deterministic"));
    assert_int_equal(r.nodes[1].state, NODE_RAN);
    r = run(&p, &g);
    assert_int_equal(r.nodes_ran, 0);
    assert_true(digest_equal(&was, &r.nodes[2].outputs[0]));
    graph_free(&g);
    place_free(&p);
}

/* ---- threads, interruption ---- */

static void test_threads_do_not_show(void **state)
{
    struct digest outputs[2][6];
    for (unsigned pass = 0; pass < 2; pass++) {
        struct place p;
        struct graph g;
        struct buf b = {0};
        place_new(&p);
        for (int i = 0; i < 6000; i++) /* more than the window of a map */
            buf_printf(&b, "%c line %d\n", 'a' + i % 26, i);
        small_graph(&g, write_file(&p, "seeds", b.data), write_file(&p, "names", "g/n t\n"));
        buf_free(&b);
        struct run_result r =
            run_with(&p, &g, (struct run_options){.threads = pass ? 4 : 1, .keep_going = true});
        assert_int_equal(r.failed, 0);
        for (int i = 0; i < 6; i++)
            outputs[pass][i] = r.nodes[i].outputs[0];
        graph_free(&g);
        place_free(&p);
    }
    assert_memory_equal(outputs[0], outputs[1], sizeof outputs[0]);
}

static void test_parallel_ops_run_alone(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    struct buf b = {0};
    for (int i = 0; i < 40; i++)
        buf_printf(&b, "%c%d\n", 'a' + i % 26, i);
    graph_init(&g, "alone");
    graph_add(&g, "seeds", "lines", "", write_file(&p, "seeds", b.data));
    buf_free(&b);
    graph_add(&g, "upper", "upper", "ms=1", "exprs=seeds");
    graph_add(&g, "alone", "alone", "", "exprs=seeds");
    graph_add(&g, "upper2", "upper", "ms=1 repeat=2", "exprs=seeds");
    atomic_store(&ops_beside, 0);
    struct run_result r = run_with(&p, &g, (struct run_options){.threads = 3});
    assert_int_equal(r.failed, 0);
    assert_int_equal(atomic_load(&ops_beside), 0);
    graph_free(&g);
    place_free(&p);
}

static void *interrupt_soon(void *arg)
{
    volatile int *flag = arg;
    usleep(30000);
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
    usleep(30000);
    __atomic_store_n(flag, 2, __ATOMIC_RELAXED);
    return NULL;
}

static void test_interrupt_and_resume(void **state)
{
    struct place p;
    struct graph g;
    place_new(&p);
    struct buf b = {0};
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "x%d\n", i);
    graph_init(&g, "stop");
    graph_add(&g, "seeds", "lines", "", write_file(&p, "seeds", b.data));
    buf_free(&b);
    graph_add(&g, "wait", "wait", "", "exprs=seeds");
    graph_add(&g, "upper", "upper", "ms=2", "exprs=seeds");
    graph_add(&g, "below", "first", "", "exprs=upper");
    volatile int flag = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, interrupt_soon, (void *)&flag);
    struct run_result r = run_with(
        &p, &g, (struct run_options){.threads = 2, .keep_going = true, .interrupted = &flag});
    pthread_join(thread, NULL);
    assert_true(r.interrupted);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.nodes[1].state, NODE_SKIPPED);
    uint64_t done = r.nodes[2].ran;
    assert_in_range(done, 1, 99);
    graph_free(&g);

    graph_init(&g, "stop");
    graph_add(&g, "seeds", "lines", "", os_join(&p.arena, p.dir, "seeds"));
    graph_add(&g, "upper", "upper", "ms=2", "exprs=seeds");
    graph_add(&g, "below", "first", "", "exprs=upper");
    r = run(&p, &g);
    assert_int_equal(r.nodes[1].cached, done);
    assert_int_equal(r.nodes[1].ran, 100 - done);
    assert_false(r.interrupted);
    graph_free(&g);
    place_free(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_key_is_pinned),
    cmocka_unit_test(test_key_ignores_names_and_order),
    cmocka_unit_test(test_second_run_does_nothing),
    cmocka_unit_test(test_cosmetic_changes_run_nothing),
    cmocka_unit_test(test_one_element_changed),
    cmocka_unit_test(test_why_names_the_edited_rule),
    cmocka_unit_test(test_chain_goes_on),
    cmocka_unit_test(test_chain_after_gc),
    cmocka_unit_test(test_only_targets),
    cmocka_unit_test(test_unchanged_files_are_not_read),
    cmocka_unit_test(test_events),
    cmocka_unit_test(test_failed_element),
    cmocka_unit_test(test_stop_at_the_first_failure),
    cmocka_unit_test(test_bad_source_changes_nothing),
    cmocka_unit_test(test_fatal_error_is_recorded),
    cmocka_unit_test(test_check_of_a_source),
    cmocka_unit_test(test_check_finds_what_is_not_deterministic),
    cmocka_unit_test(test_threads_do_not_show),
    cmocka_unit_test(test_parallel_ops_run_alone),
    cmocka_unit_test(test_interrupt_and_resume),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
