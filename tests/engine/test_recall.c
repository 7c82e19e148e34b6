/* Elements that changed where their op does not look: their results stand by what was read of them,
 * what is below is not touched, and nothing that is doubted is believed. */
#include "base/buf.h"
#include "base/os.h"
#include "place.h"
#include "store/maintain.h"
#include "tests/unit.h"

enum { SEEDS, GLANCE, ALL, LINES = 300, LETTERS = 7 };

static struct graph *build(struct place *p)
{
    struct graph *g = graph_new(p, "known");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "glance", "glance", "", "exprs=seeds");
    graph_add(g, "all", "join", "", "exprs=glance");
    return g;
}

/* Lines from `from` on end in `end`, the others in a point; all begin with a letter of their
 * number. */
static void write_lines(struct place *p, int from, const char *end)
{
    struct buf b = {0};
    for (int i = 0; i < LINES; i++)
        buf_printf(&b, "%c%d%s\n", 'a' + i % LETTERS, i, i < from ? "." : end);
    write_file(p, "seeds", b.data);
    buf_free(&b);
}

static struct run_result run_lines(struct place *p, struct run_options o)
{
    struct graph *g = build(p);
    o.threads = 2;
    struct run_result r = run_with(p, g, o);
    return r;
}

TEST(results_stand)
{
    struct place p, fresh;
    place_new(&p);
    write_lines(&p, LINES, "");
    struct run_result first = run_lines(&p, (struct run_options){0});
    assert_int_equal(first.nodes[GLANCE].elements, LINES);
    write_lines(&p, LINES - 20, "!");
    int ran = ops_ran;
    struct graph *g = build(&p);
    struct run_result planned = plan(&p, g);
    assert_int_equal(planned.nodes[GLANCE].state, NODE_REUSED);
    assert_int_equal(planned.nodes[GLANCE].reused, 20);
    assert_int_equal(planned.nodes[ALL].state, NODE_CACHED);
    struct run_result a = run_lines(&p, (struct run_options){0});
    assert_int_equal(ops_ran, ran);
    assert_int_equal(a.nodes[GLANCE].state, NODE_REUSED);
    assert_int_equal(a.nodes[GLANCE].reused, 20);
    assert_int_equal(a.nodes[GLANCE].cached, LINES - 20);
    assert_non_null(strstr(a.nodes[GLANCE].why, "0 of 300 elements affected, 20 unaffected "
                                                "(the first letter is the same)"));
    assert_int_equal(a.nodes[ALL].state, NODE_CACHED);

    place_new(&fresh);
    write_lines(&fresh, LINES - 20, "!");
    struct run_result b = run_lines(&fresh, (struct run_options){0});
    assert_memory_equal(&a.nodes[GLANCE].outputs[0], &b.nodes[GLANCE].outputs[0], DIGEST_SIZE);
    place_free(&fresh);

    /* Known as any other result is, and made again where it is doubted. */
    a = run_lines(&p, (struct run_options){0});
    assert_int_equal(a.nodes[GLANCE].state, NODE_CACHED);
    ran = ops_ran;
    a = run_lines(&p, (struct run_options){.check = true});
    assert_int_equal(a.failed, 0);
    assert_int_equal(ops_ran - ran, LINES + 1);
    place_free(&p);
}

/* Of two elements that read the same, the later one's action leads to the result when gc has taken
 * the earlier one's. */
PLACE_TEST(after_gc)
{
    for (int k = 0; k < 5; k++) {
        char end[8];
        snprintf(end, sizeof end, "v%d", k);
        write_lines(p, 0, end);
        struct run_result r = run_lines(p, (struct run_options){0});
        if (k)
            assert_int_equal(r.nodes[GLANCE].reused, LINES);
        place_gc(p);
        place_reopen(p);
    }
}

/* What a trace leads to may be damaged or gone. */
PLACE_TEST(what_is_gone_is_made_again)
{
    write_lines(p, LINES, "");
    run_lines(p, (struct run_options){0});
    write_file(p, "seeds", "z\n");
    run_lines(p, (struct run_options){0});
    /* Two collections: the traces of actions that the first one took go in the second. */
    place_gc(p);
    place_reopen(p);
    write_lines(p, 0, "again");
    struct graph *g = build(p);
    int ran = ops_ran;
    struct run_result r = run(p, g);
    assert_int_equal(r.failed, 0);
    /* What a letter gave may be in the store before all elements with it have come. */
    assert_in_range(ops_ran - ran, LETTERS + 1, LINES + 1);
    assert_int_equal(r.nodes[GLANCE].reused, LINES + 1 - (ops_ran - ran));
}
