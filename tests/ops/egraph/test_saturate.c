/* Saturation: known counts, budgets, backoff, conditions, contradictions. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/graph/egraph_core.h"

static const char ac_rules[] = "group ac\n"
                               "comm: ?a + ?b -> ?b + ?a\n"
                               "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
                               "assoc2: (?a + ?b) + ?c -> ?a + (?b + ?c)\n";

TEST(sums_have_a_class_per_subset)
{
    static const struct {
        const char *text;
        unsigned terms;
    } sums[] = {{"a + b", 2},
                {"a + (b + c)", 3},
                {"((a + b) + c) + (f + g)", 5},
                {"a + (b + (c + (f + (g + (h + k)))))", 7}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct arena a = {0};
        struct rules rules = rules_of(&a, ac_rules);
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(&a, rules.lang, sums[i].text);
        egraph_add_expr(g, &x);
        struct saturate_result r = saturate(g, &rules, generous, &a);
        assert_int_equal(r.stop, EQLOOM__STOP_REASON__SATURATED);
        check_graph(g);
        unsigned n = sums[i].terms;
        assert_int_equal(egraph_count_classes(g), (1u << n) - 1);
        /* a class of k terms has a node for each ordered split: 2^k - 2; and there are n leaves */
        unsigned nodes = n, choose = n;
        for (unsigned k = 2; k <= n; k++) {
            choose = choose * (n - k + 1) / k;
            nodes += choose * ((1u << k) - 2);
        }
        assert_int_equal(egraph_count_nodes(g), nodes);
        egraph_free(g);
        arena_free(&a);
    }
}

TEST_IN_ARENA(backoff_reaches_the_same_graph)
{
    struct rules rules = rules_of(a, ac_rules);
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(a, rules.lang, "a + (b + (c + (f + (g + (h + k)))))");
    egraph_add_expr(g, &x);
    struct saturate_options o = generous;
    o.match_limit = 20;
    o.ban_length = 2;
    struct saturate_result r = saturate(g, &rules, o, a);
    assert_int_equal(r.stop, EQLOOM__STOP_REASON__SATURATED);
    check_graph(g);
    assert_int_equal(egraph_count_classes(g), 127);
    struct saturate_result plain;
    struct egraph *h = egraph_new(rules.lang);
    egraph_add_expr(h, &x);
    plain = saturate(h, &rules, generous, a);
    assert_true(r.iterations > plain.iterations);
    egraph_free(g);
    egraph_free(h);
}

/* Small classes first: less is built twice, and the graph is the same in the end. */
TEST(rounds_build_less_twice)
{
    uint64_t applied[2] = {0};
    for (int k = 0; k < 2; k++) {
        struct arena a = {0};
        struct rules rules = rules_of(&a, ac_rules);
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(&a, rules.lang, "a + (b + (c + (f + (g + (h + (k + m))))))");
        g->size_order_at = k ? 0 : UINT32_MAX;
        egraph_add_expr(g, &x);
        struct saturate_result r = saturate(g, &rules, generous, &a);
        check_graph(g);
        assert_int_equal(egraph_count_classes(g), 255);
        assert_int_equal(egraph_count_nodes(g), 6058);
        for (size_t i = 0; i < rules.n; i++)
            applied[k] += r.applied[i];
        egraph_free(g);
        arena_free(&a);
    }
    assert_true(applied[1] * 5 < applied[0] * 4);
}

TEST_IN_ARENA(runs_may_follow_runs)
{
    struct rules rules = rules_of(a, ac_rules);
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(a, rules.lang, "a + (b + (c + (f + (g + (h + k)))))");
    struct expr y = infix_term(a, rules.lang, "(k + a) + (b + c)");
    egraph_add_expr(g, &x);
    struct saturate_options o = {.iterations = 1, .max_nodes = 100000};
    for (int i = 0; i < 12; i++) {
        saturate(g, &rules, o, a);
        check_graph(g);
        o.iterations = 1 + (uint32_t)i % 3;
        if (i == 3)
            egraph_add_expr(g, &y);
    }
    assert_int_equal(egraph_count_classes(g), 127);
    assert_int_equal(saturate(g, &rules, o, a).stop, EQLOOM__STOP_REASON__SATURATED);
    egraph_free(g);
}

static bool proves(const char *rules_text, const char *from, const char *to)
{
    struct arena a = {0};
    struct rules rules = rules_of(&a, rules_text);
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(&a, rules.lang, from), y = infix_term(&a, rules.lang, to);
    egraph_add_expr(g, &x);
    egraph_add_expr(g, &y);
    struct saturate_options o = {.iterations = 6, .max_nodes = 20000};
    saturate(g, &rules, o, &a);
    check_graph(g);
    bool same = egraph_lookup(g, &x) == egraph_lookup(g, &y);
    egraph_free(g);
    arena_free(&a);
    return same;
}

static char *calculus(struct arena *a)
{
    struct err e = {0};
    struct span text;
    char *path =
        arena_printf(a, "%s/tests/bench/workloads/calculus.rules", getenv("EQLOOM_SOURCE"));
    if (os_read_file(&text, a, path, 1 << 20, &e))
        fail_msg("%s", e.message);
    return (char *)text.data;
}

TEST_IN_ARENA(calculus_proves_what_it_should)
{
    char *rules = calculus(a);
    assert_false(proves(rules, "x / y", "x + y"));
    assert_true(proves(rules, "d(x, 1 + 2*x)", "2"));
    assert_true(proves(rules, "1 + (2 + 3)", "6"));
    assert_true(proves(rules, "1/2 + 1/3", "5/6"));
    assert_false(proves(rules, "x", "y"));
}

TEST(conditions_are_facts)
{
    const char *text = "group g\n"
                       "cancel: ?a / ?a -> 1 if nonzero(?a)\n"
                       "ln-mul: ln(?a*?b) -> ln(?a) + ln(?b) if positive(?a), positive(?b)\n"
                       "sqrt-sq: sqrt(?a^2) -> ?a if nonnegative(?a)\n"
                       "half: ?a^2 -> ?a * ?a if even(2)\n"
                       "free: d(?x, ?a) -> 0 if symbol(?x), free_of(?a, ?x)\n";
    assert_true(proves(text, "x / x", "1"));
    assert_true(proves(text, "(x - 1)/(x - 1)", "1")); /* zero at a point only */
    assert_true(proves(text, "(-3)/(-3)", "1"));
    assert_false(proves(text, "(x - x)/(x - x)", "1")); /* may be zero everywhere */
    assert_false(proves(text, "(abs(x-1) - (x-1))/(abs(x-1) - (x-1))", "1"));
    assert_true(proves(text, "ln(x * y)", "ln(x) + ln(y)"));
    assert_false(proves(text, "ln((x-1) * y)", "ln(x-1) + ln(y)"));
    assert_true(proves(text, "sqrt(x^2)", "x"));
    assert_false(proves(text, "sqrt((x-5)^2)", "x-5"));
    assert_true(proves(text, "d(x, sin(y))", "0"));
    assert_false(proves(text, "d(x, sin(x))", "0"));
}

TEST(conditions_are_asked_again)
{
    /* b becomes known to be 3 an iteration after the guarded rule was first asked */
    const char *text = "operator f/1\noperator g/1\noperator h/1\n"
                       "group g\n"
                       "a-guarded: f(?a) -> sqrt(?a) if constant(?a)\n"
                       "b-reveal: h(?a) -> 3\n"
                       "c-late: g(?a) -> h(?a)\n";
    struct arena a = {0};
    struct rules rules = rules_of(&a, text);
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(&a, rules.lang, "f(g(x - 7))"),
                y = infix_term(&a, rules.lang, "sqrt(3)");
    egraph_add_expr(g, &x);
    saturate(g, &rules, generous, &a);
    check_graph(g);
    assert_int_equal(egraph_lookup(g, &x), egraph_lookup(g, &y));
    egraph_free(g);
    arena_free(&a);
}

/* g(x) becomes known to be 3 without anything happening to x or f(x). */
TEST(conditions_on_terms_are_asked_again)
{
    assert_true(proves("operator f/1\noperator g/1\noperator h/1\ngroup g\n"
                       "a-guarded: f(?a) -> sqrt(?a) if constant(g(?a))\n"
                       "b-reveal: h(?a) -> 3\n"
                       "c-late: g(?a) -> h(?a)\n",
                       "f(x) + g(x)", "sqrt(x) + g(x)"));
}

TEST(contradictions_stop_the_run)
{
    static const struct {
        const char *rules, *term, *says[3];
    } cases[] = {
        {"group bad\nwrong: ?a + 0 -> ?a + 1\n", "3 + 0", {"contradiction", "=3", "bad/wrong"}},
        {"group bad\nneg: sin(?a) -> 2\n", "sin(x)", {"contradiction", "=2", "bad/neg"}},
        {"group bad\nzero: exp(?a) -> 0\n", "exp(x)", {"contradiction", "=0", "bad/zero"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct rules rules = rules_of(&a, cases[i].rules);
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(&a, rules.lang, cases[i].term);
        egraph_add_expr(g, &x);
        struct ruleset *set = ruleset_new(&rules);
        struct saturate_result r;
        assert_int_equal(egraph_saturate(&r, g, set, &generous, &a, &e), ERR_FAILED);
        for (int k = 0; k < 3; k++)
            if (!strstr(e.message, cases[i].says[k]))
                fail_msg("'%s' does not say '%s'", e.message, cases[i].says[k]);
        ruleset_free(set);
        egraph_free(g);
        arena_free(&a);
    }
}

static void says_of_contradiction(const char *text, const char *rules_text, const char *says,
                                  const char *never)
{
    struct arena a = {0};
    struct err e = {0};
    struct saturate_result r;
    struct rules rules = rules_of(&a, rules_text);
    struct ruleset *set = ruleset_new(&rules);
    struct egraph *g = egraph_new(rules.lang);
    g->compact_at.dead = g->compact_at.percent = 0;
    struct expr x = infix_term(&a, rules.lang, text);
    egraph_add_expr(g, &x);
    assert_int_equal(egraph_saturate(&r, g, set, &generous, &a, &e), ERR_FAILED);
    if (!strstr(e.message, says) || strstr(e.message, never))
        fail_msg("'%s' is not to say '%s', but '%s'", e.message, never, says);
    ruleset_free(set);
    egraph_free(g);
    arena_free(&a);
}

#define OPERATORS                                                                                  \
    "operator f/1\noperator g/1\noperator h/1\noperator k/1\noperator s/1\n"                       \
    "operator t/1\noperator u/1\noperator z/1\ngroup g\n"

/* t(x) joins h(x), so 2 and 1 are one by congruence; that s(x) is looked at next is no fault of its
 * rule. */
TEST(congruence_is_nobodys_contradiction)
{
    says_of_contradiction("z(x) + (u(k(x)) + u(h(x)))",
                          OPERATORS "a: u(h(?a)) -> 1\nb: u(k(?a)) -> 2\nc: k(?a) -> t(?a)\n"
                                    "d: t(?a) -> h(?a)\ne: z(?a) -> s(?a)\nlate: s(?a) -> f(?a)\n",
                          "contradiction", "by rule");
}

/* In the iteration that finds it nodes die, which are not to leave before it is told. */
TEST(contradictions_are_told_of_what_was_there)
{
    says_of_contradiction("z(y)",
                          OPERATORS "b: z(?a) -> f(k(?a)) + h(?a) * h(?a)\nc: ?a * ?a -> g(?a)\n"
                                    "d: k(?a) -> t(?a)\ne: g(?a) -> f(?a)\nf: t(?a) -> h(?a)\n"
                                    "g: f(?a) -> sin(tan(?a) + 1)\nh: tan(?a) -> 3\n"
                                    "i: tan(?a) + 1 -> 5\n",
                          "3 + 1 (=4)", "by rule");
}

/* With proofs, the error has both derivations and marks the step that values refute. */
TEST(contradictions_are_derived)
{
    static const struct {
        const char *rules, *term, *says[6];
    } cases[] = {
        {"group bad\nwrong: ?a + 0 -> ?a + 1\n",
         "3 + 0",
         {"      3 + 0\n", "= 3   [arithmetic]\n", "? = 3 + 1   [bad/wrong]   false", "another",
          "its value: 3", "its value: 4"}},
        {"group good\nnothing: ?a - ?a -> 0\nzero: ?a + 0 -> ?a\n"
         "group bad\none: ?a - ?b -> 1\n",
         "(x + 0) - x",
         {"x + 0 - x\n    = x - x   [good/zero]\n    = 0   [good/nothing]\n    its value: 0",
          "  ? = 1   [bad/one]   false\n    its value: 1", "one derivation", "another", "", ""}},
        {"group bad\nneg: exp(?a) -> -exp(?a)\n",
         "y*exp(x)",
         {"? = -e^x   [bad/neg]   false", "one derivation", "another", "its value: (0.99", "e^x",
          "its value: (-inf,-0.99"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct rules rules = rules_of(&a, cases[i].rules);
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(&a, rules.lang, cases[i].term);
        egraph_keep_proofs(g);
        egraph_add_expr(g, &x);
        struct ruleset *set = ruleset_new(&rules);
        struct saturate_result r;
        assert_false(egraph_contradicts(g));
        assert_int_equal(egraph_saturate(&r, g, set, &generous, &a, &e), ERR_FAILED);
        assert_true(egraph_contradicts(g));
        for (int k = 0; k < 6; k++)
            if (!strstr(e.detail, cases[i].says[k]))
                fail_msg("does not say '%s':\n%s", cases[i].says[k], e.detail);
        ruleset_free(set);
        egraph_free(g);
        arena_free(&a);
    }
}

TEST_IN_ARENA(budgets_are_exact)
{
    struct rules rules = rules_of(a, ac_rules);
    struct expr x = infix_term(a, rules.lang, "a + (b + (c + (f + (g + (h + k)))))");
    for (uint32_t max = 13; max < 400; max += 29) {
        struct egraph *g = egraph_new(rules.lang);
        egraph_add_expr(g, &x);
        struct saturate_options o = {.iterations = 100, .max_nodes = max};
        struct saturate_result r = saturate(g, &rules, o, a);
        check_graph(g);
        assert_int_equal(r.stop, EQLOOM__STOP_REASON__NODE_LIMIT);
        assert_true(egraph_count_nodes(g) <= max + 1); /* the largest right side adds two nodes */
        egraph_free(g);
    }
    for (uint64_t max = 1; max < 300; max += 37) {
        struct egraph *g = egraph_new(rules.lang);
        egraph_add_expr(g, &x);
        struct saturate_options o = {.iterations = 100, .max_nodes = 100000, .max_matches = max};
        struct saturate_result r = saturate(g, &rules, o, a);
        uint64_t applied = 0;
        for (size_t i = 0; i < rules.n; i++)
            applied += r.applied[i];
        assert_true(applied <= max);
        assert_int_equal(r.stop, EQLOOM__STOP_REASON__MATCH_LIMIT);
        egraph_free(g);
    }
    struct egraph *g = egraph_new(rules.lang);
    egraph_add_expr(g, &x);
    struct saturate_options o = {.iterations = 2, .max_nodes = 100000};
    struct saturate_result r = saturate(g, &rules, o, a);
    assert_int_equal(r.iterations, 2);
    assert_int_equal(r.stop, EQLOOM__STOP_REASON__ITERATION_LIMIT);
    egraph_free(g);
}

/* What a graph that has served before holds is what a new one would. */
TEST(a_cleared_graph_is_new)
{
    static const char *const terms[] = {"d(x, x*sin(x) + 3)", "y*(x + 2) + (x - x)", "2^3 + x/x"};
    struct arena a = {0};
    struct rules rules = rules_of(&a, calculus(&a));
    struct egraph *served = egraph_new(rules.lang);
    struct saturate_options o = {.iterations = 8, .max_nodes = 3000};
    for (int i = 0; i < 9; i++) {
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(&a, rules.lang, terms[i % 3]);
        egraph_clear(served);
        if (i % 2) {
            egraph_keep_proofs(served);
            egraph_keep_proofs(g);
        }
        struct saturate_result r[2];
        eclass_id root[2] = {egraph_add_expr(served, &x), egraph_add_expr(g, &x)};
        r[0] = saturate(served, &rules, o, &a);
        r[1] = saturate(g, &rules, o, &a);
        check_graph(served);
        assert_int_equal(egraph_find(served, root[0]), egraph_find(g, root[1]));
        assert_int_equal(egraph_count_nodes(served), egraph_count_nodes(g));
        assert_int_equal(egraph_count_classes(served), egraph_count_classes(g));
        for (size_t k = 0; k < rules.n; k++)
            assert_int_equal(r[0].matched[k], r[1].matched[k]);
        egraph_free(g);
    }
    egraph_free(served);
    arena_free(&a);
}

static bool third_time(void *arg)
{
    return ++*(int *)arg >= 3;
}

TEST_IN_ARENA(a_run_stops_when_told)
{
    struct err e = {0};
    struct rules rules = rules_of(a, ac_rules);
    struct ruleset *set = ruleset_new(&rules);
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(a, rules.lang, "a + (b + (c + (f + (g + (h + k)))))");
    int asked = 0;
    struct saturate_options o = generous;
    struct saturate_result r;
    o.cancelled = third_time;
    o.cancelled_arg = &asked;
    egraph_add_expr(g, &x);
    assert_int_equal(egraph_saturate(&r, g, set, &o, a, &e), ERR_CANCELLED);
    assert_int_equal(asked, 3);
    ruleset_free(set);
    egraph_free(g);
}
