/* What changes how long a run takes, or what it keeps beside, changes nothing that it gives: a
 * graph that has served before, proofs, indexes. Random; the seed is
 * printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help_runs.h"

#include "ops/egraph/graph/node_index.h"

static bool same_runs(const struct ran *p, const struct ran *q, const struct rules *rules)
{
    size_t counts = rules->n * sizeof *p->result.matched;
    if (p->failed || q->failed)
        return p->failed == q->failed;
    return span_equal(p->record, q->record) && span_equal(p->trace, q->trace) &&
           p->result.iterations == q->result.iterations &&
           memcmp(p->result.matched, q->result.matched, counts) == 0 &&
           memcmp(p->result.applied, q->result.applied, counts) == 0;
}

TEST(a_graph_that_served_is_new)
{
    static const char large[] =
        "group g\nx: ?a + ?b -> ?b + ?a\ny: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
        "z: ?a -> ?a * 1\n";
    struct rng r = rng_new(test_seed(1), 14);
    struct arena forever = {0};
    struct rules growing = rules_of(&forever, large);
    struct egraph *served = egraph_new(growing.lang);
    for (int round = 0; round < CASES(300, 60); round++) {
        struct sample s;
        draw(&s, &r);
        struct saturate_options o = random_rests(&r);
        if (round % 60 == 59) { /* larger than what a cleared graph keeps */
            struct expr sum = infix_term(&s.a, growing.lang, "a+(b+(c+(f+(g+(h+(k+(m+x)))))))");
            struct saturate_options most = {.iterations = 20, .max_nodes = 300000};
            most.explain = round % 120 == 59;
            egraph_clear(served);
            assert_false(run(served, &s.a, &growing, &sum, &most).failed);
            assert_true(egraph_count_nodes(served) > 15000);
        }
        o.max_nodes = 50 + (uint32_t)rng_below(&r, 1000);
        o.iterations = 12;
        o.explain = rng_below(&r, 2);
        struct egraph *g = egraph_new(s.rules.lang);
        egraph_clear(served);
        struct ran p = run(served, &s.a, &s.rules, &s.x, &o), q = run(g, &s.a, &s.rules, &s.x, &o);
        assert_true(same_runs(&p, &q, &s.rules));
        assert_int_equal(p.root, q.root);
        egraph_free(g);
        arena_free(&s.a);
    }
    egraph_free(served);
    arena_free(&forever);
}

/* Compaction moves nodes where there are no proofs, and only there. */
TEST(proofs_change_nothing)
{
    struct rng r = rng_new(test_seed(1), 15);
    int compared = 0;
    for (int round = 0; round < CASES(400, 80); round++) {
        struct sample s;
        draw(&s, &r);
        struct saturate_options o = random_rests(&r);
        struct egraph *plain = egraph_new(s.rules.lang), *proving = egraph_new(s.rules.lang);
        struct ran without = run(plain, &s.a, &s.rules, &s.x, &o);
        o.explain = true;
        struct ran with = run(proving, &s.a, &s.rules, &s.x, &o);
        if (!same_runs(&without, &with, &s.rules))
            fail_msg("round %d: %s: another run with proofs", round, expr_infix(&s.a, &s.x));
        compared += !without.failed && plain->n_cells < proving->n_cells;
        egraph_free(plain);
        egraph_free(proving);
        arena_free(&s.a);
    }
    print_message("%d compacted\n", compared);
    assert_true(compared > 0);
}

/* Runs in which classes of hundreds of nodes join one another while they are searched. */
static void draw_large(struct arena *a, struct rules *rules, struct expr *x,
                       struct saturate_options *o, struct rng *r)
{
    static const char text[] = "group g\n"
                               "comm: ?a + ?b -> ?b + ?a\n"
                               "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
                               "times: ?a * ?b -> ?b * ?a\n"
                               "factor: ?a*?b + ?a*?c -> ?a*(?b + ?c)\n"
                               "square: ?a^2 + (2*?a*?b + ?b^2) -> (?a + ?b)^2\n"
                               "double: ?a + ?a -> 2*?a\n"
                               "one: ?a*1 -> ?a\n";
    static const char *const leaves[] = {"x", "y", "2*x", "x*y", "x^2", "y^2", "2*x*y", "1", "3*x"};
    struct buf b = {0};
    *rules = rules_of(a, text);
    *o = (struct saturate_options){.iterations = 40, .max_nodes = 4000, .ban_length = 2};
    o->match_limit = rng_below(r, 2) ? 100 : 100000;
    buf_puts(&b, "y");
    for (int i = 0; i < 7; i++)
        buf_printf(&b, " + %s", leaves[rng_below(r, sizeof leaves / sizeof *leaves)]);
    *x = infix_term(a, rules->lang, arena_strdup(a, b.data));
    buf_free(&b);
}

TEST(indexes_change_nothing)
{
    struct rng r = rng_new(test_seed(1), 17);
    uint64_t most = 0;
    for (int round = 0; round < CASES(40, 8); round++) {
        struct arena a = {0};
        struct rules rules;
        struct expr x;
        struct saturate_options o;
        draw_large(&a, &rules, &x, &o, &r);
        struct egraph *indexed = egraph_new(rules.lang), *walked = egraph_new(rules.lang);
        walked->node_index->limit = 0;
        struct ran with = run(indexed, &a, &rules, &x, &o),
                   without = run(walked, &a, &rules, &x, &o);
        if (with.failed || !same_runs(&with, &without, &rules))
            fail_msg("round %d: %s: another run without indexes", round, expr_infix(&a, &x));
        uint32_t size = 0, c = graph_find(indexed, with.root), n = c;
        do
            size++;
        while ((n = graph_next(indexed, n)) != c);
        most = size > most ? size : most;
        egraph_free(indexed);
        egraph_free(walked);
        arena_free(&a);
    }
    print_message("classes of up to %llu nodes\n", (unsigned long long)most);
    assert_true(most > 5 * NODE_INDEX_LARGE);
}
