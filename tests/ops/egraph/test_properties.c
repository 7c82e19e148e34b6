/* What holds of any rules and terms, conditions included: a saturated graph has nothing left that a
 * full search would find; once saturated, the order of rules and rests do not matter; the node
 * limit is exact; a graph that has served before gives the bytes of a new one. Random; the seed is
 * printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help.h"
#include "tests/ops/egraph/help_facts.h"

#include "base/buf.h"
#include "ops/egraph/graph.h"
#include "ops/egraph/join.h"
#include "ops/egraph/reuse.h"
#include "schemas/canonical.h"

/* All conditions stay true once they are: what a run ends with does not depend on when it asked. */
static const char *const pool[] = {
    "?a + ?b -> ?b + ?a",
    "?a * ?b -> ?b * ?a",
    "?a + (?b + ?c) -> (?a + ?b) + ?c",
    "?a * (?b + ?c) -> ?a * ?b + ?a * ?c",
    "?a + 0 -> ?a",
    "?a -> ?a + 0",
    "?a * 1 -> ?a",
    "?a * 0 -> 0",
    "?a - ?a -> 0",
    "?a - ?a -> ?a * (1 - 1)",
    "?a / ?a -> 1 if nonzero(?a)",
    "?a - ?b -> ?a + (-1) * ?b",
    "?a + ?a -> 2 * ?a",
    "?a * ?a -> ?a^2",
    "sin(?a)^2 + cos(?a)^2 -> 1",
    "tan(?a) -> sin(?a) / cos(?a)",
    "sin(?a + (0 + cos(?b * (?c + ?a)))) -> ?b",
    "cos(?a + ?b) -> cos(?b + ?a)",
    "ln(?a * ?b) -> ln(?a) + ln(?b) if positive(?a), positive(?b)",
    "ln(?a / ?b) -> ln(?a) - ln(?b) if positive(?a / ?b), positive(?b)",
    "sqrt(?a^2) -> ?a if nonnegative(?a)",
    "sqrt(?a * ?b) -> sqrt(?a) * sqrt(?b) if nonnegative(?a * ?b), nonnegative(?b)",
    "abs(?a) -> ?a if nonnegative(?a + 0)",
    "abs(?a) -> -?a if nonpositive(?a)",
    "exp(?a) -> exp(?a - 0) if real(?a * 1)",
    "exp(?a) -> 1 + (?a - ?a) if less_equal(?a, 0), less_equal(0, ?a)",
    "?a^?b -> 1 / ?a^(0 - ?b) if constant(?b), negative(?b), nonzero(?a)",
    "tanh(?a) -> 3/2 - 1/2 if constant(?a)",
    "sinh(?a) -> tanh(?a + (3 - 3))",
    "cosh(?a) -> cosh(-?a)",
    "?a + ?b -> 0 + (?a + ?b) if symbol(?b)",
    "0 -> 1 - 1",
    "x + ?a -> ?a + (x + 0)",
    "tanh(?a) -> 1 * ?a if nonnegative(sinh(?a))",
    "sinh(?a) -> abs(sinh(?a))",
};
enum { POOL = sizeof pool / sizeof *pool, SET_MAX = 16, GUARDED = POOL - 2, REVEALING };

static const struct term_words words = {
    .leaves = {"x", "y", "0", "1", "2", "-3", "pi", "1/2"},
    .functions = {"sin", "cos", "tan", "ln", "sqrt", "tanh", "sinh", "exp", "abs", "cosh"},
    .n_leaves = 8,
    .n_functions = 10,
};

static struct expr some_term(struct arena *a, const struct rules *rules, struct rng *r)
{
    struct buf b = {0};
    random_term(&b, r, &words, 2 + (unsigned)rng_below(r, 4));
    struct expr x = term(a, rules->lang, arena_strdup(a, b.data));
    buf_free(&b);
    return x;
}

static struct rules rules_in_order(struct arena *a, const uint32_t *chosen, size_t n)
{
    struct buf b = {0};
    buf_puts(&b, "group g\n");
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "r%u: %s\n", chosen[i], pool[chosen[i]]);
    struct rules rules = rules_of(a, arena_strdup(a, b.data));
    buf_free(&b);
    return rules;
}

/* Different ones, in random order. */
static size_t choose_rules(uint32_t *chosen, struct rng *r)
{
    uint32_t all[POOL];
    size_t n = 1 + (size_t)rng_below(r, SET_MAX);
    for (uint32_t i = 0; i < POOL; i++)
        all[i] = i;
    rng_shuffle_u32(r, all, POOL);
    memcpy(chosen, all, n * sizeof *all);
    return n;
}

/* Rules and a term. */
struct sample {
    struct arena a;
    uint32_t chosen[SET_MAX];
    size_t n;
    struct rules rules;
    struct expr x;
};

static void draw(struct sample *s, struct rng *r)
{
    *s = (struct sample){0};
    s->n = choose_rules(s->chosen, r);
    s->rules = rules_in_order(&s->a, s->chosen, s->n);
    s->x = some_term(&s->a, &s->rules, r);
}

struct ran {
    bool failed; /* some terms are nowhere defined, and rules contradict one another there */
    eclass_id root;
    struct saturate_result result;
    struct span record, trace;
};

static struct ran run(struct egraph *g, struct arena *a, const struct rules *rules,
                      const struct expr *x, const struct saturate_options *o)
{
    struct err e = {0};
    struct ran out = {0};
    struct ruleset *set = ruleset_new(rules);
    g->compact_at.dead = g->compact_at.percent = 0; /* in every iteration in which a node died */
    if (o->explain)
        egraph_keep_proofs(g);
    out.root = egraph_add_expr(g, x);
    out.failed = egraph_saturate(&out.result, g, set, o, a, &e) != OK;
    if (!out.failed) {
        Eqloom__Rule *m = arena_array(a, Eqloom__Rule, rules->n);
        const Eqloom__Rule **records = arena_array(a, const Eqloom__Rule *, rules->n);
        for (size_t i = 0; i < rules->n; i++) {
            rule_to_message(&m[i], a, rules, &rules->rules[i]);
            records[i] = &m[i];
        }
        struct reuse_rules *reuse = reuse_rules_new(rules, set, records, false);
        Eqloom__EGraph message;
        check_graph(g);
        check_facts(g);
        egraph_to_message(&message, a, g, out.root);
        assert_int_equal(canonical_pack(&out.record, a, &message.base, &e), OK);
        assert_int_equal(reuse_trace(&out.trace, a, reuse, &out.result, g, &message, &e), OK);
        reuse_rules_free(reuse);
    } else if (!egraph_contradicts(g)) {
        fail_msg("%s", e.message);
    }
    ruleset_free(set);
    return out;
}

static bool saturated(const struct ran *r)
{
    return !r->failed && r->result.stop == EQLOOM__STOP_REASON__SATURATED;
}

static struct saturate_options random_rests(struct rng *r)
{
    struct saturate_options o = {.iterations = 60, .max_nodes = 1500};
    if (rng_below(r, 2)) {
        o.match_limit = 1 + (uint32_t)rng_below(r, 12);
        o.ban_length = 1 + (uint32_t)rng_below(r, 4);
    }
    return o;
}

/* A new run knows nothing of what was searched before: it takes every match for new. */
static void expect_nothing_more(struct egraph *g, struct arena *a, const struct rules *rules,
                                const struct expr *x, int round)
{
    uint32_t nodes = egraph_count_nodes(g), classes = egraph_count_classes(g);
    struct saturate_options once = {.iterations = 2, .max_nodes = 100000};
    struct saturate_result again = saturate(g, rules, once, a);
    if (again.stop != EQLOOM__STOP_REASON__SATURATED || again.iterations != 1 ||
        egraph_count_nodes(g) != nodes || egraph_count_classes(g) != classes)
        fail_msg("round %d: %s: %u nodes became %u, %u classes %u", round, expr_infix(a, x), nodes,
                 egraph_count_nodes(g), classes, egraph_count_classes(g));
}

static void a_full_search_finds_nothing_more(void **state)
{
    struct rng r = rng_new(test_seed(), 11);
    int compared = 0;
    for (int round = 0; round < 600; round++) {
        struct sample s;
        draw(&s, &r);
        struct egraph *g = egraph_new(s.rules.lang);
        g->rounds_at = round % 2 ? 0 : UINT32_MAX;
        struct saturate_options o = random_rests(&r);
        o.explain = round % 5 == 0;
        struct ran ran = run(g, &s.a, &s.rules, &s.x, &o);
        if (saturated(&ran)) {
            expect_nothing_more(g, &s.a, &s.rules, &s.x, round);
            compared++;
        }
        egraph_free(g);
        arena_free(&s.a);
    }
    print_message("%d of 600 saturated\n", compared);
    assert_true(compared > 100);
}

/* tanh(t) is seen before it is known that sinh(t) is not negative, and nothing happens to t. */
static void matches_wait_for_late_facts(void **state)
{
    struct rng r = rng_new(test_seed(), 16);
    int compared = 0, waited = 0;
    for (int round = 0; round < 300; round++) {
        struct arena a = {0};
        uint32_t chosen[SET_MAX] = {GUARDED, REVEALING};
        size_t n = 2;
        for (size_t more = rng_below(&r, 4); n < 2 + more; n++)
            chosen[n] = (uint32_t)(n - 2 + 8 * rng_below(&r, GUARDED / 8));
        rng_shuffle_u32(&r, chosen, n);
        struct rules rules = rules_in_order(&a, chosen, n);
        struct expr t = some_term(&a, &rules, &r);
        struct expr x =
            term(&a, rules.lang,
                 arena_printf(&a, "sinh(%s) + tanh(%s)", expr_infix(&a, &t), expr_infix(&a, &t)));
        struct egraph *g = egraph_new(rules.lang);
        struct saturate_options o = random_rests(&r);
        struct ran ran = run(g, &a, &rules, &x, &o);
        if (saturated(&ran)) {
            expect_nothing_more(g, &a, &rules, &x, round);
            compared++;
            waited += ran.result.iterations > 2;
        }
        egraph_free(g);
        arena_free(&a);
    }
    print_message("%d of 300 saturated, %d of them after two iterations\n", compared, waited);
    assert_true(compared > 30 && waited > 10);
}

static void order_and_rests_do_not_matter(void **state)
{
    struct rng r = rng_new(test_seed(), 12);
    int compared = 0;
    for (int round = 0; round < 400; round++) {
        struct sample s;
        draw(&s, &r);
        struct span first = {0};
        for (int k = 0; k < 3; k++) {
            struct rules ordered = rules_in_order(&s.a, s.chosen, s.n);
            struct egraph *g = egraph_new(ordered.lang);
            g->rounds_at = k == 1 ? 0 : UINT32_MAX;
            struct saturate_options o = random_rests(&r);
            struct ran ran = run(g, &s.a, &ordered, &s.x, &o);
            if (saturated(&ran) && first.data) {
                if (!span_equal(first, ran.record))
                    fail_msg("round %d: %s: another graph in another order", round,
                             expr_infix(&s.a, &s.x));
                compared++;
            }
            if (saturated(&ran))
                first = ran.record;
            rng_shuffle_u32(&r, s.chosen, s.n);
            egraph_free(g);
        }
        arena_free(&s.a);
    }
    print_message("%d compared\n", compared);
    assert_true(compared > 200);
}

/* Nodes that an application may add: those of its right side, three more for a fraction that it
 * writes (numerator, denominator, quotient), and a constant that it computes, with its own three.
 */
static uint32_t largest_application(const struct rules *rules)
{
    uint32_t most = 0;
    for (size_t i = 0; i < rules->n; i++) {
        const struct expr *x = &rules->rules[i].rhs;
        uint32_t n = x->n;
        for (uint32_t k = 0; k < x->n; k++)
            n += x->nodes[k].leaf && strchr(x->nodes[k].leaf, '/') ? 3 : 0;
        most = n > most ? n : most;
    }
    return most + 3;
}

static void the_node_limit_is_exact(void **state)
{
    struct rng r = rng_new(test_seed(), 13);
    int reached = 0;
    for (int round = 0; round < 600; round++) {
        struct sample s;
        draw(&s, &r);
        struct egraph *g = egraph_new(s.rules.lang);
        struct saturate_options o = random_rests(&r);
        struct ran ran;
        egraph_add_expr(g, &s.x);
        uint32_t before = egraph_count_nodes(g);
        o.max_nodes = before + (uint32_t)rng_below(&r, 40);
        ran = run(g, &s.a, &s.rules, &s.x, &o);
        if (!ran.failed) {
            uint32_t nodes = egraph_count_nodes(g),
                     limit = o.max_nodes > before ? o.max_nodes - 1 + largest_application(&s.rules)
                                                  : before;
            if (nodes > limit)
                fail_msg("round %d: %s: %u nodes, of %u", round, expr_infix(&s.a, &s.x), nodes,
                         o.max_nodes);
            if (nodes >= o.max_nodes)
                assert_int_equal(ran.result.stop, EQLOOM__STOP_REASON__NODE_LIMIT);
            reached += ran.result.stop == EQLOOM__STOP_REASON__NODE_LIMIT;
        }
        egraph_free(g);
        arena_free(&s.a);
    }
    print_message("%d reached it\n", reached);
    assert_true(reached > 50);
}

static void a_graph_that_served_is_new(void **state)
{
    static const char large[] =
        "group g\nx: ?a + ?b -> ?b + ?a\ny: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
        "z: ?a -> ?a * 1\n";
    struct rng r = rng_new(test_seed(), 14);
    struct arena forever = {0};
    struct rules growing = rules_of(&forever, large);
    struct egraph *served = egraph_new(growing.lang);
    for (int round = 0; round < 300; round++) {
        struct sample s;
        draw(&s, &r);
        struct saturate_options o = random_rests(&r);
        if (round % 60 == 59) { /* larger than what a cleared graph keeps */
            struct expr sum = term(&s.a, growing.lang, "a+(b+(c+(f+(g+(h+(k+(m+x)))))))");
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
        assert_int_equal(p.failed, q.failed);
        if (!p.failed) {
            assert_true(span_equal(p.record, q.record));
            assert_true(span_equal(p.trace, q.trace));
            assert_int_equal(p.root, q.root);
            assert_int_equal(p.result.iterations, q.result.iterations);
            for (size_t k = 0; k < s.rules.n; k++) {
                assert_int_equal(p.result.matched[k], q.result.matched[k]);
                assert_int_equal(p.result.applied[k], q.result.applied[k]);
            }
        }
        egraph_free(g);
        arena_free(&s.a);
    }
    egraph_free(served);
    arena_free(&forever);
}

/* Compaction moves nodes where there are no proofs, and only there. */
static void proofs_change_nothing(void **state)
{
    struct rng r = rng_new(test_seed(), 15);
    int compared = 0;
    for (int round = 0; round < 400; round++) {
        struct sample s;
        draw(&s, &r);
        struct saturate_options o = random_rests(&r);
        struct egraph *plain = egraph_new(s.rules.lang), *proving = egraph_new(s.rules.lang);
        struct ran without = run(plain, &s.a, &s.rules, &s.x, &o);
        o.explain = true;
        struct ran with = run(proving, &s.a, &s.rules, &s.x, &o);
        assert_int_equal(without.failed, with.failed);
        if (!without.failed) {
            size_t counts = s.rules.n * sizeof *with.result.matched;
            if (!span_equal(without.record, with.record) ||
                !span_equal(without.trace, with.trace) ||
                memcmp(without.result.matched, with.result.matched, counts) ||
                memcmp(without.result.applied, with.result.applied, counts))
                fail_msg("round %d: %s: another run with proofs", round, expr_infix(&s.a, &s.x));
            compared += plain->n_cells < proving->n_cells;
        }
        egraph_free(plain);
        egraph_free(proving);
        arena_free(&s.a);
    }
    print_message("%d of 400 compacted\n", compared);
    assert_true(compared > 0);
}

/* What only asks for memory says nothing, in graphs of any size. */
static void foresight_changes_nothing(void **state)
{
    struct rng r = rng_new(test_seed(), 18);
    for (int round = 0; round < 150; round++) {
        struct sample s;
        draw(&s, &r);
        struct saturate_options o = random_rests(&r);
        o.max_nodes = 50 + (uint32_t)rng_below(&r, 2000);
        o.iterations = 12;
        o.explain = rng_below(&r, 2);
        struct egraph *far = egraph_new(s.rules.lang), *near = egraph_new(s.rules.lang);
        far->near = 0;
        near->near = UINT32_MAX;
        struct ran p = run(far, &s.a, &s.rules, &s.x, &o), q = run(near, &s.a, &s.rules, &s.x, &o);
        assert_int_equal(p.failed, q.failed);
        if (!p.failed) {
            assert_true(span_equal(p.record, q.record));
            assert_true(span_equal(p.trace, q.trace));
        }
        egraph_free(far);
        egraph_free(near);
        arena_free(&s.a);
    }
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
    *x = term(a, rules->lang, arena_strdup(a, b.data));
    buf_free(&b);
}

static bool same_runs(const struct ran *p, const struct ran *q, const struct rules *rules)
{
    size_t counts = rules->n * sizeof *p->result.matched;
    return !p->failed && !q->failed && span_equal(p->record, q->record) &&
           span_equal(p->trace, q->trace) &&
           memcmp(p->result.matched, q->result.matched, counts) == 0;
}

static void indexes_change_nothing(void **state)
{
    struct rng r = rng_new(test_seed(), 17);
    uint64_t most = 0;
    for (int round = 0; round < 40; round++) {
        struct arena a = {0};
        struct rules rules;
        struct expr x;
        struct saturate_options o;
        draw_large(&a, &rules, &x, &o, &r);
        struct egraph *indexed = egraph_new(rules.lang), *walked = egraph_new(rules.lang);
        walked->joins->limit = 0;
        struct ran with = run(indexed, &a, &rules, &x, &o),
                   without = run(walked, &a, &rules, &x, &o);
        if (!same_runs(&with, &without, &rules))
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
    assert_true(most > 5 * JOIN_LARGE);
}

/* From the first node on, or from the middle of an iteration on; rules rest and go on. */
static void looking_ahead_changes_nothing(void **state)
{
    struct rng r = rng_new(test_seed(), 23);
    for (int round = 0; round < 160; round++) {
        struct sample s = {0};
        struct saturate_options o;
        if (round % 8 == 0) {
            draw_large(&s.a, &s.rules, &s.x, &o, &r);
        } else {
            draw(&s, &r);
            o = random_rests(&r);
            o.max_nodes = 50 + (uint32_t)rng_below(&r, 2000);
            o.iterations = 12;
        }
        o.explain = rng_below(&r, 2);
        struct egraph *ahead = egraph_new(s.rules.lang), *plain = egraph_new(s.rules.lang);
        ahead->joins->ahead_cells = 0;
        ahead->joins->ahead_looked = (uint32_t)rng_below(&r, 3);
        plain->joins->ahead_cells = UINT32_MAX;
        struct ran p = run(ahead, &s.a, &s.rules, &s.x, &o),
                   q = run(plain, &s.a, &s.rules, &s.x, &o);
        assert_int_equal(p.failed, q.failed);
        if (!p.failed && !same_runs(&p, &q, &s.rules))
            fail_msg("round %d: %s: looking ahead another run", round, expr_infix(&s.a, &s.x));
        egraph_free(ahead);
        egraph_free(plain);
        arena_free(&s.a);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_search_finds_nothing_more),
        cmocka_unit_test(matches_wait_for_late_facts),
        cmocka_unit_test(order_and_rests_do_not_matter),
        cmocka_unit_test(the_node_limit_is_exact),
        cmocka_unit_test(a_graph_that_served_is_new),
        cmocka_unit_test(proofs_change_nothing),
        cmocka_unit_test(foresight_changes_nothing),
        cmocka_unit_test(indexes_change_nothing),
        cmocka_unit_test(looking_ahead_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
