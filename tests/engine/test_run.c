/* The engine against a real store, with small ops: keys, what runs again after what, source files,
 * what is printed. */
#include "base/os.h"
#include "engine/cache/action.h"
#include "engine/cache/source_files.h"
#include "engine/session/progress.h"
#include "small.h"
#include "store/store.h"
#include "tests/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- keys ---- */

PLACE_TEST(key_is_pinned)
{
    struct err e = {0};
    struct key key;
    char hex[DIGEST_HEX];
    struct digest id = {{1, 2, 3}};
    struct graph *g = graph_new(p, "pin");
    graph_add(g, "seeds", "lines", "", "x");
    uint32_t upper = graph_add(g, "upper", "upper", "repeat=7", "exprs=seeds");
    struct key_input inputs[] = {{"names", NULL, 0}, {"exprs", &id, 1}};
    struct key_spec spec = {
        .node = &g->nodes[upper], .numerics = "any", .inputs = inputs, .n_inputs = 2};
    check(key_make(&key, g->arena, &spec, &e), &e);
    assert_string_equal(digest_hex(hex, &key.digest),
                        "183179d77d67aacb4a667e4e1b36443249073830c051883aaea5ebedc3582f68");

    uint32_t fold = graph_add(g, "fold", "fold", "", "expr=upper");
    struct key_input input = {"expr", &id, 1};
    spec = (struct key_spec){.node = &g->nodes[fold],
                             .numerics = "cpu-test",
                             .inputs = &input,
                             .n_inputs = 1,
                             .segment = "steps 0-5",
                             .after = &id};
    check(key_make(&key, g->arena, &spec, &e), &e);
    assert_string_equal(digest_hex(hex, &key.digest),
                        "ca8394543b159e03d2993cbfb214806b8da70c7ea7cb246561b694a0c0da4376");
    assert_string_equal(key.message->numerics, "cpu-test");
    g->nodes[fold].units = "tiles";
    check(key_make(&key, g->arena, &spec, &e), &e);
    assert_string_equal(key.message->numerics, "cpu-test, tiles");
}

PLACE_TEST(key_ignores_names_and_order)
{
    struct err e = {0};
    struct key a, b, c;
    struct digest id = {{9}}, other = {{8}};
    struct graph *g = graph_new(p, "keys");
    graph_add(g, "seeds", "lines", "", "x");
    uint32_t one = graph_add(g, "one", "upper", "ms=3 repeat=7", "exprs=seeds");
    uint32_t two = graph_add(g, "two", "upper", "repeat=7 ms=3", "exprs=seeds");
    struct key_input in[] = {{"exprs", &id, 1}, {"names", &other, 1}};
    struct key_input turned[] = {{"names", &other, 1}, {"exprs", &id, 1}};
    struct key_spec s = {.node = &g->nodes[one], .numerics = "x", .inputs = in, .n_inputs = 2};
    check(key_make(&a, g->arena, &s, &e), &e);
    s = (struct key_spec){.node = &g->nodes[two], .numerics = "y", .inputs = turned, .n_inputs = 2};
    check(key_make(&b, g->arena, &s, &e), &e);
    assert_true(digest_equal(&a.digest, &b.digest));
    g->nodes[two].units = "katex"; /* what an op says of itself enters, with numerics or without */
    check(key_make(&b, g->arena, &s, &e), &e);
    assert_false(digest_equal(&a.digest, &b.digest));
    g->nodes[two].units = NULL;
    check(key_make(&b, g->arena, &s, &e), &e);
    turned[0].ids = &id;
    check(key_make(&c, g->arena, &s, &e), &e);
    assert_false(digest_equal(&a.digest, &c.digest));
}

/* ---- caching ---- */

PLACE_TEST(second_run_does_nothing)
{
    struct graph *g = small_graph(p, "a x\nb y\nc z\n", "g/n t\n");
    struct run_result first = run(p, g);
    assert_int_equal(first.failed, 0);
    assert_int_equal(first.nodes_ran, 6);
    assert_int_equal(first.elements, 3 + 6 + 4);
    assert_int_equal(first.elements_ran, 13);
    assert_string_equal(text_of(p, &first.nodes[JOINED].outputs[0]), "A,A,B,B,C,C,");
    struct digest ref;
    assert_int_equal(store_ref(&ref, p->store, "small/model", NULL), OK);
    assert_true(digest_equal(&ref, &first.nodes[MODEL].outputs[0]));

    int before = atomic_load(&ops_ran), prepared = atomic_load(&ops_prepared);
    struct run_result again = run(p, g);
    assert_int_equal(atomic_load(&ops_ran), before);
    assert_int_equal(atomic_load(&ops_prepared), prepared);
    assert_int_equal(again.nodes_ran, 0);
    assert_int_equal(again.elements_ran, 0);
    assert_int_equal(again.elements, 13);
    assert_int_equal(again.elements_cached, 13);
    assert_string_equal(again.run, first.run); /* nothing to record */
    assert_int_equal(again.nodes[SEEDS].state, NODE_READ);
    assert_int_equal(again.nodes[UPPER].state, NODE_CACHED);
    struct run_result planned = plan(p, g);
    for (size_t i = 0; i < g->job.n_nodes; i++)
        assert_true(planned.nodes[i].state == NODE_CACHED || planned.nodes[i].state == NODE_READ);
}

PLACE_TEST(cosmetic_changes_run_nothing)
{
    run(p, small_graph(p, "a\nb\n", "g/n t\n"));
    write_file(p, "seeds", "# a comment\na\nb\n");
    struct graph *g = graph_new(p, "small");
    graph_add(g, "renamed", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "upper2", "upper", "repeat=2", "exprs=renamed names=names");
    graph_add(g, "first", "first", "", "exprs=upper2");
    struct run_result planned = plan(p, g);
    assert_int_equal(planned.nodes[0].state, NODE_READ);
    assert_int_equal(planned.nodes[2].state, NODE_CACHED);
    struct run_result r = run(p, g);
    assert_int_equal(r.nodes_ran, 0);
    assert_int_equal(r.elements_ran, 0);
    assert_int_equal(r.nodes[0].state, NODE_READ);
    struct digest ref;
    assert_int_equal(store_ref(&ref, p->store, "small/upper2", NULL), OK);
    assert_int_equal(store_ref(&ref, p->store, "small/upper", NULL), ERR_NOTFOUND);
}

PLACE_TEST(one_element_changed)
{
    struct graph *g = small_graph(p, "a x\nb y\nc z\nd w\n", "g/n t\n");
    run(p, g);
    write_file(p, "seeds", "a x\nb changed\nc z\nd w\n");
    struct run_result planned = plan(p, g);
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
    struct run_result r = run(p, g);
    assert_int_equal(r.nodes[SEEDS].state, NODE_RAN);
    assert_int_equal(r.nodes[UPPER].ran, 1);
    assert_int_equal(r.nodes[UPPER].cached, 3);
    assert_int_equal(r.nodes[FIRST].ran, 2);
    /* Early cutoff: the first letters are what they were. */
    assert_int_equal(r.nodes[JOINED].state, NODE_CACHED);
    assert_int_equal(r.nodes[MODEL].state, NODE_CACHED);
    assert_int_equal(atomic_load(&ops_ran) - before, 1 + 2);
}

PLACE_TEST(why_names_the_edited_rule)
{
    struct err e = {0};
    char *text;
    struct graph *g = small_graph(p, "a\nb\n", "g/one t\ng/two u\ng/three v\n");
    run(p, g);
    write_file(p, "names", "g/one t\ng/two edited\ng/three v\ng/four w\n");
    struct run_result planned = plan(p, g);
    assert_string_equal(planned.nodes[UPPER].why,
                        "names changed: 1 edited (g/two), 1 added (g/four)");
    check(job_why(&text, &p->arena, &g->job, UPPER, p->store, &e), &e);
    assert_non_null(strstr(text, "would run (2 of 2 elements): names changed: 1 edited (g/two)"));
    assert_non_null(strstr(text, "first (would run)"));
    run(p, g);
    check(job_why(&text, &p->arena, &g->job, UPPER, p->store, &e), &e);
    assert_non_null(strstr(text, "now       up to date"));
    assert_non_null(strstr(text, "ran, 2 of 2 elements ran: names changed: 1 edited (g/two)"));
    g = graph_new(p, "small");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "upper", "upper", "repeat=3", "exprs=seeds names=names");
    planned = plan(p, g);
    assert_string_equal(planned.nodes[UPPER].why, "param repeat: 2 -> 3");
}

PLACE_TEST(only_targets)
{
    uint32_t target = FIRST;
    struct graph *g = small_graph(p, "a\n", "g/n t\n");
    struct run_options o = {.keep_going = true, .targets = &target, .n_targets = 1};
    struct run_result r = run_with(p, g, o);
    assert_int_equal(r.nodes_ran, 4);
    assert_int_equal(r.nodes[JOINED].state, NODE_WAITING);
    assert_false(r.interrupted);
    r = run(p, g);
    assert_int_equal(r.nodes_ran, 2);
}

/* ---- source files ---- */

/* The file; its text is there if it was read. */
static struct op_file scan(struct place *p, struct graph *g)
{
    struct source_files files;
    struct err e = {0};
    struct store_batch *b = store_batch_new(p->store);
    check(source_scan(&files, &p->arena, &g->nodes[0], p->store, b, &e), &e);
    check(store_batch_commit(b, &e), &e);
    store_batch_free(b);
    return files.files[0];
}

PLACE_TEST(unchanged_files_are_not_read)
{
    char *path = write_file(p, "seeds", "one");
    struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    struct timespec young[2] = {{.tv_sec = 1ll << 33}, {.tv_sec = 1ll << 33}};
    assert_int_equal(utimensat(AT_FDCWD, path, young, 0), 0); /* and stays so */
    struct graph *g = graph_new(p, "files");
    graph_add(g, "seeds", "lines", "", path);
    struct op_file first = scan(p, g);
    assert_non_null(first.text.text);
    /* Young: it may change without a sign, so it is read again. */
    assert_non_null(scan(p, g).text.text);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    usleep(2100000);
    assert_non_null(scan(p, g).text.text);
    struct op_file known = scan(p, g);
    assert_null(known.text.text);
    assert_true(digest_equal(&known.id, &first.id));
    /* Same size, same inode, mtime set back: the time of the change itself tells. */
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_true(fputs("two", f) >= 0);
    fclose(f);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    struct op_file changed = scan(p, g);
    assert_non_null(changed.text.text);
    assert_false(digest_equal(&changed.id, &first.id));
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

/* What is shown of a source while it is read. */
static char *shown(struct place *p, const struct graph *g, bool json)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct run_options o = {.json = json, .terminal = !json, .events = f};
    struct progress *progress = progress_new(&g->job, &o, (const bool[GRAPH_NODES]){true},
                                             (const uint64_t[GRAPH_NODES]){0});
    progress_source(progress, 0, "being read");
    usleep(1100000); /* later is as well */
    progress_tick(progress);
    progress_free(progress);
    fclose(f);
    char *copy = arena_strdup(&p->arena, text);
    free(text);
    return copy;
}

PLACE_TEST(a_source_tells_that_it_is_read)
{
    struct graph *g = graph_of(p, "sources", "a\n");
    assert_non_null(strstr(shown(p, g, true), "\"text\":\"being read\""));
    char *rows = shown(p, g, false);
    assert_non_null(strstr(rows, "] 0/1 nodes, 0 cached, 0 ran"));
    assert_non_null(strstr(rows, "seeds "));
    assert_non_null(strstr(rows, "being read"));
    assert_non_null(strstr(rows, "\033[2A\r\033[J")); /* cut off, nothing stays */
}

PLACE_TEST(events)
{
    struct graph *g = graph_of(p, "events", "a \"quoted\"\nbad\n");
    graph_add(g, "upper", "upper", "", "exprs=seeds");
    char *text = printed(p, g, true);
    assert_non_null(strstr(text, "{\"event\":\"run_start\",\"job\":\"events\""));
    assert_non_null(strstr(text, "{\"event\":\"node_start\",\"node\":\"upper\",\"op\":\"upper\","
                                 "\"elements\":2,"));
    assert_non_null(
        strstr(text, "{\"event\":\"element_failed\",\"node\":\"upper\",\"element\":1,"));
    assert_non_null(strstr(text, "bad): it is bad\"}"));
    const char *last = strrchr(arena_strndup(&p->arena, text, strlen(text) - 1), '\n') + 1;
    assert_ptr_equal(strstr(last, "{\"event\":\"summary\",\"job\":\"events\",\"nodes\":2,"
                                  "\"nodes_ran\":1,\"sources_read\":0,\"elements\":2,"
                                  "\"elements_ran\":1,\"elements_cached\":0,"
                                  "\"elements_reused\":0,\"failed\":1,"),
                     last);
    text = printed(p, g, false);
    assert_ptr_equal(strstr(text, "FAILED upper, element 1 ("), text);
    assert_non_null(strstr(text, "\ncached: seeds\nevents: 2 nodes, "));
    assert_non_null(strstr(text, "upper: failed, 0 of 2 elements, 1 failed"));
}

/* ---- elements that come together ---- */

PLACE_TEST(together)
{
    struct graph *g = graph_of(p, "together", numbered(p, 100, ""));
    graph_add(g, "shout", "shout", "", "exprs=seeds");
    graph_add(g, "all", "join", "", "exprs=shout");
    int before = atomic_load(&ops_together);
    struct run_options one = {.threads = 1, .keep_going = true};
    struct run_result r = run_with(p, g, one);
    assert_int_equal(r.failed, 0);
    assert_memory_equal(text_of(p, &r.nodes[2].outputs[0]), "a0!,b1!,c2!,", 12);
    assert_true(atomic_load(&ops_together) - before < 50);
    /* only what is new comes together; where it fails for several, each comes alone */
    write_file(p, "seeds", numbered(p, 100, "x\nshy\ny\n"));
    before = atomic_load(&ops_together);
    r = run_with(p, g, one);
    assert_memory_equal(text_of(p, &r.nodes[2].outputs[0]), "x!,shy!,y!,a0!,", 15);
    assert_int_equal(r.elements_ran, 3);
    assert_true(atomic_load(&ops_together) - before <= 4);
    /* one bad element costs itself */
    write_file(p, "seeds", numbered(p, 100, "z\nbad\nu\n"));
    r = run_with(p, g, one);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.elements_ran, 2);
}
