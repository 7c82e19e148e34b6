/* What holds of any rules and terms, conditions included: a saturated graph has nothing left that a
 * full search would find; once saturated, the order of rules and rests do not matter; the node
 * limit is exact. Random; the seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help_runs.h"

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

TEST(a_full_search_finds_nothing_more)
{
    struct rng r = rng_new(test_seed(1), 11);
    int compared = 0;
    for (int round = 0; round < 600; round++) {
        struct sample s;
        draw(&s, &r);
        struct egraph *g = egraph_new(s.rules.lang);
        g->size_order_at = round % 2 ? 0 : UINT32_MAX;
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
TEST(matches_wait_for_late_facts)
{
    struct rng r = rng_new(test_seed(1), 16);
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
        struct expr x = infix_term(
            &a, rules.lang,
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

TEST(order_and_rests_do_not_matter)
{
    struct rng r = rng_new(test_seed(1), 12);
    int compared = 0;
    for (int round = 0; round < 400; round++) {
        struct sample s;
        draw(&s, &r);
        struct span first = {0};
        for (int k = 0; k < 3; k++) {
            struct rules ordered = rules_in_order(&s.a, s.chosen, s.n);
            struct egraph *g = egraph_new(ordered.lang);
            g->size_order_at = k == 1 ? 0 : UINT32_MAX;
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

TEST(the_node_limit_is_exact)
{
    struct rng r = rng_new(test_seed(1), 13);
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
