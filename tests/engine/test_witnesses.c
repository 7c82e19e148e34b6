/* Maps whose op proves that results stand, over collections with leaves: whatever rules and lines
 * are edited, the outputs are those of a run from scratch; and where an edit can have touched
 * little, little is asked. The seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "base/buf.h"
#include "base/os.h"
#include "base/rng.h"
#include "engine/cache/witness_counts.h"
#include "place.h"
#include "store/internal.h"
#include "store/maintain.h"
#include "tests/unit.h"

#include <time.h>

enum { SEEDS, NAMES, RANK, NODES };
enum { LINES = 4000, RARE = 1000, LARGE = 44000, RULES = 12, ROUNDS = 6 };

/* Line i begins with a letter of its number; every RARE-th one with one of its own. Rules are of
 * letters, by number, too: 0 is of none. */
struct text {
    uint32_t *lines;
    size_t n;
    uint32_t letter[RULES], version[RULES];
};

static char letter_of(uint32_t line)
{
    return (char)(line % RARE == RARE / 2 ? 'r' + line / RARE % 8 : 'a' + line % 3);
}

static void write_text(struct place *p, const struct text *t)
{
    struct buf b = {0};
    for (size_t i = 0; i < t->n; i++)
        buf_printf(&b, "%c%u\n", letter_of(t->lines[i]), t->lines[i]);
    write_file(p, "seeds", b.data);
    buf_clear(&b);
    buf_puts(&b, "");
    for (size_t i = 0; i < RULES; i++)
        if (t->letter[i])
            buf_printf(&b, "g/%c%zu v%u\n", (char)t->letter[i], i, t->version[i]);
    write_file(p, "names", b.data ? b.data : "");
    buf_free(&b);
}

static struct run_result run_text(struct place *p, const struct text *t, struct run_options o)
{
    write_text(p, t);
    struct graph *g = graph_new(p, "proofs");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "rank", "rank", "", "exprs=seeds names=names");
    o.keep_going = true;
    struct run_result r = run_with(p, g, o);
    assert_int_equal(r.failed, 0);
    return r;
}

static struct text new_text(size_t n)
{
    struct text t = {
        .lines = calloc(n, sizeof *t.lines), .n = n, .letter = {'a', 'b', 'r', 's', 'Z'}};
    for (size_t i = 0; i < n; i++)
        t.lines[i] = (uint32_t)i;
    return t;
}

static void edit_rule(struct text *t, struct rng *r)
{
    static const char letters[] = "abcrstuvwxyzABC";
    size_t k = (size_t)rng_below(r, RULES);
    if (t->letter[k] && rng_below(r, 2) == 0)
        t->letter[k] = 0;
    else
        t->letter[k] = (uint32_t)letters[rng_below(r, sizeof letters - 1)];
    t->version[k]++;
}

static void same_as_scratch(const struct text *t, const struct run_result *a)
{
    struct place scratch;
    place_new(&scratch);
    struct run_result b = run_text(&scratch, t, (struct run_options){0});
    for (int i = 0; i < NODES; i++)
        assert_memory_equal(&a->nodes[i].outputs[0], &b.nodes[i].outputs[0], DIGEST_SIZE);
    place_free(&scratch);
}

PLACE_TEST(random_edits)
{
    struct rng r = rng_new(test_seed((uint64_t)time(NULL)), 0);
    struct text t = new_text(LINES);
    uint32_t fresh = LINES;
    run_text(p, &t, (struct run_options){0});
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t what = rng_below(&r, 4);
        if (what != 0)
            edit_rule(&t, &r);
        if (what < 2)
            t.lines[rng_below(&r, t.n)] = fresh++;
        if (rng_below(&r, 4) == 0) {
            place_gc(p);
        }
        if (rng_below(&r, 4) == 0)
            place_reopen(p);
        struct run_result a =
            run_text(p, &t, (struct run_options){.threads = 1 + (unsigned)rng_below(&r, 3)});
        const struct node_result *rank = &a.nodes[RANK];
        assert_int_equal(rank->elements, t.n);
        assert_int_equal(rank->elements, rank->ran + rank->cached + rank->reused);
        same_as_scratch(&t, &a);
    }
    struct run_result checked = run_text(p, &t, (struct run_options){.check = true});
    assert_int_equal(checked.nodes[RANK].state, NODE_RAN);
    free(t.lines);
}

/* Enough elements for blocks above the leaves. */
PLACE_TEST(little_is_asked)
{
    struct text t = new_text(LARGE);
    run_text(p, &t, (struct run_options){0});

    t.version[4]++; /* 'Z': nowhere */
    int proved = ops_asked, ran = ops_ran;
    struct run_result a = run_text(p, &t, (struct run_options){0});
    assert_int_equal(a.nodes[RANK].reused, LARGE);
    assert_int_equal(a.nodes[RANK].state, NODE_REUSED);
    assert_in_range(ops_asked - proved, 1, 16);
    assert_int_equal(ops_ran - ran, 1); /* the source of names */

    /* One line in another leaf, the rule again: the leaf's elements were proved with their block.
     */
    t.lines[LARGE / 2] = LARGE + 1;
    t.version[4]++;
    ran = ops_ran;
    a = run_text(p, &t, (struct run_options){0});
    assert_int_equal(a.nodes[RANK].ran, 1);
    assert_int_equal(a.nodes[RANK].reused, LARGE - 1);

    /* 's': every 8,000th line. */
    size_t rare = 0;
    for (size_t i = 0; i < t.n; i++)
        rare += letter_of(t.lines[i]) == 's';
    t.version[3]++;
    proved = ops_asked;
    a = run_text(p, &t, (struct run_options){0});
    assert_int_equal(a.nodes[RANK].ran, rare);
    assert_int_equal(a.nodes[RANK].reused, LARGE - rare);
    assert_in_range(ops_asked - proved, rare, LARGE / 4);
    same_as_scratch(&t, &a);

    /* As before: everything is known. */
    t.version[3]--;
    proved = ops_asked;
    a = run_text(p, &t, (struct run_options){0});
    assert_int_equal(a.nodes[RANK].cached + a.nodes[RANK].reused, LARGE);
    free(t.lines);
}

/* A plan asks for the same proofs, and writes nothing. */
PLACE_TEST(plan)
{
    struct text t = new_text(LINES);
    run_text(p, &t, (struct run_options){0});
    t.version[4]++;
    write_text(p, &t);
    struct graph *g = graph_new(p, "proofs");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "rank", "rank", "", "exprs=seeds names=names");
    for (int k = 0; k < 2; k++) {
        struct run_result planned = plan(p, g);
        assert_int_equal(planned.nodes[RANK].state, NODE_REUSED);
        assert_int_equal(planned.nodes[RANK].reused, LINES);
        assert_int_equal(planned.nodes[RANK].ran, 0);
    }
    free(t.lines);
}

/* What --check finds of results that were proved with their block. */
PLACE_TEST(check)
{
    struct text t = new_text(LINES);
    run_text(p, &t, (struct run_options){0});
    t.version[4]++;
    run_text(p, &t, (struct run_options){0});
    int ran = ops_ran;
    struct run_result a = run_text(p, &t, (struct run_options){.check = true});
    assert_int_equal(a.nodes[RANK].state, NODE_RAN);
    assert_int_equal(a.nodes[RANK].failed, 0);
    assert_in_range(ops_ran - ran, LINES, LINES + 2);
    free(t.lines);
}

/* What is told of proofs: the most frequent ones, in an order that threads cannot change. */
TEST_IN_ARENA(told)
{
    struct witness_counts p = {0};
    witness_counts_add(&p, a, "b", 3);
    witness_counts_add(&p, a, "d", 1);
    witness_counts_add(&p, a, "c", 4);
    witness_counts_add(&p, a, witness_reason(WITNESS_NOTE "c"), 1);
    witness_counts_add(&p, a, "a", 3);
    char *text = witness_counts_text(a, &p, "w", 1, 20, 12);
    assert_string_equal(text, "w; 1 of 20 elements affected, 12 unaffected "
                              "(5: c; 3: a; 3: b; 1 otherwise)");
    assert_null(witness_reason("c"));
    p = (struct witness_counts){0};

    for (char name[] = "a"; *name < 'a' + WITNESS_KINDS + 4; ++*name)
        witness_counts_add(&p, a, name, 1);
    assert_int_equal(p.n, WITNESS_KINDS);
    text = witness_counts_text(a, &p, NULL, 0, WITNESS_KINDS + 4, WITNESS_KINDS + 4);
    assert_non_null(strstr(text, " (1: a; 1: b; 1: c; 17 otherwise)"));
}
