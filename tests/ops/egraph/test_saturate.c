/* Saturation: known counts, budgets, backoff, conditions, contradictions. */
#include "tests/ops/egraph/help.h"

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
        struct fixture f = fixture_of(ac_rules, sums[i].text, false);
        fixture_saturate(&f, generous);
        assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__SATURATED);
        unsigned n = sums[i].terms;
        assert_int_equal(egraph_count_classes(f.g), (1u << n) - 1);
        /* a class of k terms has a node for each ordered split: 2^k - 2; and there are n leaves */
        unsigned nodes = n, choose = n;
        for (unsigned k = 2; k <= n; k++) {
            choose = choose * (n - k + 1) / k;
            nodes += choose * ((1u << k) - 2);
        }
        assert_int_equal(egraph_count_nodes(f.g), nodes);
        fixture_end(&f);
    }
}

static const char seven[] = "a + (b + (c + (f + (g + (h + k)))))";

TEST(backoff_reaches_the_same_graph)
{
    struct fixture f = fixture_of(ac_rules, seven, false),
                   plain = fixture_of(ac_rules, seven, false);
    struct saturate_options o = generous;
    o.match_limit = 20;
    o.ban_length = 2;
    fixture_saturate(&f, o);
    assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__SATURATED);
    assert_int_equal(egraph_count_classes(f.g), 127);
    fixture_saturate(&plain, generous);
    assert_true(f.r.iterations > plain.r.iterations);
    fixture_end(&f);
    fixture_end(&plain);
}

/* Small classes first: less is built twice, and the graph is the same in the end. */
TEST(rounds_build_less_twice)
{
    uint64_t applied[2] = {0};
    for (int k = 0; k < 2; k++) {
        struct fixture f = fixture_of(ac_rules, "a + (b + (c + (f + (g + (h + (k + m))))))", false);
        f.g->size_order_at = k ? 0 : UINT32_MAX;
        fixture_saturate(&f, generous);
        assert_int_equal(egraph_count_classes(f.g), 255);
        assert_int_equal(egraph_count_nodes(f.g), 6058);
        for (size_t i = 0; i < f.rules->n; i++)
            applied[k] += f.r.applied[i];
        fixture_end(&f);
    }
    assert_true(applied[1] * 5 < applied[0] * 4);
}

TEST(runs_may_follow_runs)
{
    struct fixture f = fixture_of(ac_rules, seven, false);
    struct expr y = infix_term(&f.a, f.rules->lang, "(k + a) + (b + c)");
    struct saturate_options o = {.iterations = 1, .max_nodes = 100000};
    for (int i = 0; i < 12; i++) {
        fixture_saturate(&f, o);
        o.iterations = 1 + (uint32_t)i % 3;
        if (i == 3)
            egraph_add_expr(f.g, &y);
    }
    assert_int_equal(egraph_count_classes(f.g), 127);
    fixture_saturate(&f, o);
    assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__SATURATED);
    fixture_end(&f);
}

static bool proves(const char *rules, const char *from, const char *to)
{
    struct fixture f = fixture_of(rules, from, false);
    struct expr y = infix_term(&f.a, f.rules->lang, to);
    eclass_id other = egraph_add_expr(f.g, &y);
    fixture_saturate(&f, (struct saturate_options){.iterations = 6, .max_nodes = 20000});
    bool same = egraph_find(f.g, f.root) == egraph_find(f.g, other);
    fixture_end(&f);
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
    struct fixture f = fixture_of(text, "f(g(x - 7))", false);
    struct expr y = infix_term(&f.a, f.rules->lang, "sqrt(3)");
    fixture_saturate(&f, generous);
    assert_int_equal(egraph_find(f.g, f.root), egraph_lookup(f.g, &y));
    fixture_end(&f);
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
        struct fixture f = fixture_of(cases[i].rules, cases[i].term, false);
        assert_int_equal(fixture_try(&f, generous), ERR_FAILED);
        for (int k = 0; k < 3; k++)
            if (!strstr(f.e.message, cases[i].says[k]))
                fail_msg("'%s' does not say '%s'", f.e.message, cases[i].says[k]);
        fixture_end(&f);
    }
}

static void says_of_contradiction(const char *text, const char *rules, const char *says,
                                  const char *never)
{
    struct fixture f = fixture_of(rules, text, false);
    f.g->compact_at.dead = f.g->compact_at.percent = 0;
    assert_int_equal(fixture_try(&f, generous), ERR_FAILED);
    if (!strstr(f.e.message, says) || strstr(f.e.message, never))
        fail_msg("'%s' is not to say '%s', but '%s'", f.e.message, never, says);
    fixture_end(&f);
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
        struct fixture f = fixture_of(cases[i].rules, cases[i].term, true);
        assert_false(egraph_contradicts(f.g));
        assert_int_equal(fixture_try(&f, generous), ERR_FAILED);
        assert_true(egraph_contradicts(f.g));
        for (int k = 0; k < 6; k++)
            if (!strstr(f.e.detail, cases[i].says[k]))
                fail_msg("does not say '%s':\n%s", cases[i].says[k], f.e.detail);
        fixture_end(&f);
    }
}

TEST(budgets_are_exact)
{
    struct saturate_options o = {.iterations = 100};
    for (o.max_nodes = 13; o.max_nodes < 400; o.max_nodes += 29) {
        struct fixture f = fixture_of(ac_rules, seven, false);
        fixture_saturate(&f, o);
        assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__NODE_LIMIT);
        /* the largest right side adds two nodes */
        assert_true(egraph_count_nodes(f.g) <= o.max_nodes + 1);
        fixture_end(&f);
    }
    o.max_nodes = 100000;
    for (o.max_matches = 1; o.max_matches < 300; o.max_matches += 37) {
        struct fixture f = fixture_of(ac_rules, seven, false);
        fixture_saturate(&f, o);
        uint64_t applied = 0;
        for (size_t i = 0; i < f.rules->n; i++)
            applied += f.r.applied[i];
        assert_true(applied <= o.max_matches);
        assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__MATCH_LIMIT);
        fixture_end(&f);
    }
    struct fixture f = fixture_of(ac_rules, seven, false);
    fixture_saturate(&f, (struct saturate_options){.iterations = 2, .max_nodes = 100000});
    assert_int_equal(f.r.iterations, 2);
    assert_int_equal(f.r.stop, EQLOOM__STOP_REASON__ITERATION_LIMIT);
    fixture_end(&f);
}

static bool third_time(void *arg)
{
    return ++*(int *)arg >= 3;
}

TEST(a_run_stops_when_told)
{
    struct fixture f = fixture_of(ac_rules, seven, false);
    int asked = 0;
    struct saturate_options o = generous;
    o.cancelled = third_time;
    o.cancelled_arg = &asked;
    assert_int_equal(fixture_try(&f, o), ERR_CANCELLED);
    assert_int_equal(asked, 3);
    fixture_end(&f);
}
