/* Property: whatever is edited, the outputs of an incremental run are those of a run from scratch
 * in an empty store. Random graphs, random edits; the seed is printed and may be given in
 * EQLOOM_TEST_SEED. */
#include "base/buf.h"
#include "base/rng.h"
#include "place.h"
#include "tests/unit.h"

#include <time.h>

enum { NODES = 12, LINES = 24, SOURCES = 2, ROUNDS = 4, EDITS = 8 };

/* A graph as choices, from which it is built anew for each run. */
struct shape {
    uint32_t op[NODES], input[NODES], param[NODES];
    int line[SOURCES][LINES], n_lines[SOURCES];
    int name;
};

static const char *const ops[] = {"upper", "first", "alone", "glance", "join", "fold"};

/* Whether a node gives a collection of expressions. */
static bool is_collection(const struct shape *s, uint32_t i)
{
    return i < SOURCES || s->op[i] <= 3;
}

static void choose_input(struct shape *s, uint32_t i, struct rng *r)
{
    for (;;) {
        uint32_t in = (uint32_t)rng_below(r, i);
        bool single = strcmp(ops[s->op[i]], "fold") == 0;
        if (single ? in >= SOURCES && strcmp(ops[s->op[in]], "join") == 0 : is_collection(s, in)) {
            s->input[i] = in;
            return;
        }
        if (single && rng_below(r, 8) == 0)
            s->op[i] = (uint32_t)rng_below(r, 5); /* there may be nothing to fold */
    }
}

static void choose_node(struct shape *s, uint32_t i, struct rng *r)
{
    s->op[i] = (uint32_t)rng_below(r, sizeof ops / sizeof *ops);
    s->param[i] = (uint32_t)rng_below(r, 4);
    choose_input(s, i, r);
}

static void choose_shape(struct shape *s, struct rng *r)
{
    memset(s, 0, sizeof *s);
    for (int k = 0; k < SOURCES; k++) {
        s->n_lines[k] = (int)rng_below(r, LINES);
        for (int i = 0; i < LINES; i++)
            s->line[k][i] = (int)rng_below(r, 40);
    }
    for (uint32_t i = SOURCES; i < NODES; i++)
        choose_node(s, i, r);
}

/* Keeps kinds of nodes as they are: others read them. */
static void edit(struct shape *s, struct rng *r)
{
    uint32_t i = SOURCES + (uint32_t)rng_below(r, NODES - SOURCES);
    int k = (int)rng_below(r, SOURCES);
    switch (rng_below(r, 6)) {
    case 0:
    case 1: s->line[k][rng_below(r, LINES)] = (int)rng_below(r, 40); break;
    case 2: s->n_lines[k] = (int)rng_below(r, LINES); break;
    case 3: s->param[i] = (uint32_t)rng_below(r, 4); break;
    case 4: choose_input(s, i, r); break;
    case 5: s->name++; break;
    }
}

static void write_sources(struct place *p, const struct shape *s)
{
    for (int k = 0; k < SOURCES; k++) {
        struct buf b = {0};
        char name[16];
        buf_printf(&b, "# %d\n", s->name);
        for (int i = 0; i < s->n_lines[k]; i++)
            buf_printf(&b, "%c%d\n", 'a' + s->line[k][i] % 3, s->line[k][i]);
        snprintf(name, sizeof name, "source%d", k);
        write_file(p, name, b.data);
        buf_free(&b);
    }
    write_file(p, "names", "g/n suffix\n");
}

static struct graph *build(struct place *p, const struct shape *s)
{
    static const char *const params[][4] = {{"repeat=0", "repeat=1", "repeat=2", "seed=5"},
                                            {"", "", "", ""},
                                            {"", "", "", ""},
                                            {"seed=0", "seed=1", "seed=2", "seed=3"},
                                            {"prefix=", "prefix=a", "prefix=b", "prefix=c"},
                                            {"steps=0", "steps=1", "steps=3", "steps=5"}};
    struct graph *g = graph_new(p, "random");
    for (uint32_t i = 0; i < NODES; i++) {
        char name[32], inputs[128];
        snprintf(name, sizeof name, "n%u-%d", i, i % 3 ? 0 : s->name);
        if (i < SOURCES) {
            snprintf(inputs, sizeof inputs, "%s/source%u", p->dir, i);
            graph_add(g, name, "lines", "", inputs);
            continue;
        }
        snprintf(inputs, sizeof inputs, "%s=%s", strcmp(ops[s->op[i]], "fold") ? "exprs" : "expr",
                 g->nodes[s->input[i]].name);
        graph_add(g, name, ops[s->op[i]], params[s->op[i]][s->param[i]], inputs);
    }
    return g;
}

static void run_both(struct place *p, const struct shape *s, struct rng *r)
{
    struct place fresh;
    place_new(&fresh);
    write_sources(p, s);
    write_sources(&fresh, s);
    struct graph *g = build(p, s);
    struct run_result planned = plan(p, g);
    struct run_options o = {.threads = 1 + (unsigned)rng_below(r, 3), .keep_going = true};
    struct run_result a = run_with(p, g, o), b = run(&fresh, build(&fresh, s));
    assert_int_equal(a.failed, 0);
    for (uint32_t i = 0; i < NODES; i++) {
        if (!digest_equal(&a.nodes[i].outputs[0], &b.nodes[i].outputs[0]))
            fail_msg("node %s (%s) differs", g->nodes[i].name, g->nodes[i].op->name);
        assert_int_equal(a.nodes[i].elements, b.nodes[i].elements);
        /* What the plan said is what came; less, where two nodes had elements in common. */
        if (planned.nodes[i].state == NODE_CACHED && a.nodes[i].ran)
            fail_msg("node %s was planned as cached and ran", g->nodes[i].name);
        if (planned.nodes[i].state == NODE_RAN && planned.nodes[i].elements)
            assert_in_range(a.nodes[i].ran, 0, planned.nodes[i].ran);
    }
    place_free(&fresh);
}

TEST(edits)
{
    struct rng r = rng_new(test_seed((uint64_t)time(NULL)), 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct place p;
        struct shape s;
        place_new(&p);
        choose_shape(&s, &r);
        for (int k = 0; k < EDITS; k++) {
            run_both(&p, &s, &r);
            for (uint64_t n = 1 + rng_below(&r, 3); n > 0; n--)
                edit(&s, &r);
            if (rng_below(&r, 3) == 0)
                place_reopen(&p);
        }
        place_free(&p);
    }
}
