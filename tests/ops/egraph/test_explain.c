/* Explanations: every proof is replayed by the checker, and the checker refuses what is wrong. */
#include "tests/ops/egraph/help.h"

static const char algebra[] = "group ring\n"
                              "add-comm: ?a + ?b -> ?b + ?a\n"
                              "add-assoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n"
                              "mul-comm: ?a * ?b -> ?b * ?a\n"
                              "distribute: ?a * (?b + ?c) <-> ?a * ?b + ?a * ?c\n"
                              "square: ?a^2 <-> ?a * ?a\n"
                              "one: ?a * 1 -> ?a\n"
                              "minus: ?a - ?b <-> ?a + (-1) * ?b\n"
                              "group trig\n"
                              "pythagoras: sin(?a)^2 + cos(?a)^2 -> 1\n"
                              "double: sin(2 * ?a) <-> 2 * (sin(?a) * cos(?a))\n";

static void proves(const char *text, const char *from, const char *to, bool expected)
{
    struct arena a = {0};
    struct err e = {0};
    struct rules rules = rules_of(&a, text);
    struct ruleset *set = ruleset_new(&rules);
    struct egraph *g = egraph_new(rules.lang);
    egraph_keep_proofs(g);
    struct expr x = term(&a, rules.lang, from), y = term(&a, rules.lang, to);
    struct saturate_options o = {
        .iterations = 8, .max_nodes = 20000, .explain = true, .has_goal = true};
    o.goal[0] = egraph_add_expr(g, &x);
    o.goal[1] = egraph_add_expr(g, &y);
    struct saturate_result r;
    if (egraph_saturate(&r, g, set, &o, &a, &e))
        fail_msg("%s", e.message);
    check_graph(g);
    struct explanation p;
    enum err_code code = egraph_explain(&p, &a, g, set, &x, &y, &e);
    assert_int_equal(code, expected ? OK : ERR_NOTFOUND);
    if (expected) {
        assert_true(p.n > 0 || expr_equal(&x, &y));
        assert_int_equal(r.stop, EQLOOM__STOP_REASON__GOAL_REACHED);
        if (explanation_check(&p, &x, &y, &rules, &e))
            fail_msg("%s = %s: %s", from, to, e.message);
        struct explanation back;
        assert_int_equal(egraph_explain(&back, &a, g, set, &y, &x, &e), OK);
        if (explanation_check(&back, &y, &x, &rules, &e))
            fail_msg("%s = %s: %s", to, from, e.message);
    }
    ruleset_free(set);
    egraph_free(g);
    arena_free(&a);
}

static void proofs_replay(void **state)
{
    proves(algebra, "x", "x", true);
    proves(algebra, "a + b", "b + a", true);
    proves(algebra, "1 + 2 * 3", "7", true);
    proves(algebra, "x * (1 + 2) + 1/2", "3 * x + (1/4 + 1/4)", true);
    proves(algebra, "(a + b)^2", "a^2 + (2*(a*b) + b^2)", false); /* needs more of a ring */
    proves(algebra, "(a + b) * c", "c * b + c * a", true);
    proves(algebra, "sin(x)^2 * y + cos(x)^2 * y", "y", true);
    proves(algebra, "ln(sin(x + y)^2 + cos(y + x)^2)", "ln(1)", true);
    proves(algebra, "sin(2*x)^2 + cos(x*2)^2", "1", true);
    proves(algebra, "f + ((b + c) + a)", "(a + b) + (c + f)", true);
    proves(algebra, "a + b", "a + c", false);
}

static void the_checker_is_strict(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct rules rules = rules_of(&a, algebra);
    struct expr x = term(&a, rules.lang, "sin(a + b)"), y = term(&a, rules.lang, "sin(b + a)");
    struct expr z = term(&a, rules.lang, "cos(b + a)"), w = term(&a, rules.lang, "sin(b + c)");
    struct explain_step s = {.rule = "ring/add-comm", .position = 1, .term = y};
    struct explanation p = {&s, 1};
    assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), OK);
    assert_int_equal(explanation_check(&p, &x, &x, &rules, &e), ERR_FAILED);
    s.position = 0;
    assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), ERR_FAILED);
    s.position = 1;
    s.rule = "ring/mul-comm";
    assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), ERR_FAILED);
    s.rule = "ring/no-such";
    assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), ERR_FAILED);
    s.rule = "given";
    assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), ERR_FAILED);
    s.rule = "ring/add-comm";
    s.term = z;
    assert_int_equal(explanation_check(&p, &x, &z, &rules, &e), ERR_FAILED);
    s.term = w;
    assert_int_equal(explanation_check(&p, &x, &w, &rules, &e), ERR_FAILED);
    s.position = 99;
    assert_int_equal(explanation_check(&p, &x, &w, &rules, &e), ERR_FAILED);
    arena_free(&a);
}

/* Numbers are asked about a proof that replays: its sides, and what its rules ask. */
static void numbers_doubt_false_steps(void **state)
{
    static const struct {
        const char *rule, *from, *to, *says; /* NULL: nothing can be said against it */
    } cases[] = {
        {"r: ?a/?a -> 1 if nonzero(?a)", "(x-1)/(x-1)", "1", NULL},
        {"r: ?a*1 -> ?a if nonzero(?a)", "(x-x)*1", "x-x", "nonzero(x - x) does not hold"},
        {"r: ?a -> abs(?a) if positive(?a)", "-x", "abs(-x)", "x = "},
        {"r: ?a + 0 -> ?a if positive(?a)", "(2-x)+0", "2-x", "positive(2 - x) does not hold"},
        {"r: ?a + 0 -> ?a if positive(?a)", "(2+x)+0", "2+x", NULL},
        {"r: ?a + 0 -> ?a if real(?a)", "ln(-x)+0", "ln(-x)", "real(ln(-x)) does not hold"},
        {"r: ?a + 0 -> ?a if integer(?a)", "sin(x)^2+cos(x)^2+0", "sin(x)^2+cos(x)^2", NULL},
        {"r: ?a + 0 -> ?a if even(?a)", "(3+3)+0", "3+3", NULL},
        {"r: ?a + 0 -> ?a if odd(?a)", "(3+3)+0", "3+3", "odd(3 + 3) does not hold"},
        {"r: ?a + 0 -> ?a if constant(?a)", "x+0", "x", "constant(x) does not hold"},
        {"r: ?a + 0 -> ?a if constant(?a)", "(x-x)+0", "x-x", NULL},
        {"r: ?a + 0 -> ?a if symbol(?a)", "x*2/2+0", "x*2/2", NULL},
        {"r: ?a + 0 -> ?a if symbol(?a)", "2*x+0", "2*x", "symbol(2*x) does not hold"},
        {"r: d(?x, ?a) -> 0 if free_of(?a, ?x)", "d(x, y+2)", "0", NULL},
        {"r: d(?x, ?a)*0 -> 0 if free_of(?a, ?x)", "d(x, x*y)*0", "0", "free_of(x*y, x) does not"},
        {"r: ?a+0*?b -> ?a if less(?a, ?b)", "x+0*(x-y)", "x", "less(x, x - y) does not hold"},
        {"r: ?a+0*?b -> ?a if ?a < ?b", "x+0*(x+y)", "x", NULL},
        {"r: sin(?a) -> cos(?a)", "sin(x)", "cos(x)", "against"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct rules rules = rules_of(&a, arena_printf(&a, "group g\n%s\n", cases[i].rule));
        struct expr x = term(&a, rules.lang, cases[i].from), y = term(&a, rules.lang, cases[i].to);
        struct explain_step s = {.rule = "g/r", .term = y};
        struct explanation p = {&s, 1};
        size_t step = 9;
        assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), OK);
        enum err_code code = explanation_check_values(&step, &p, &x, &rules, NULL, 0, &e);
        if (!cases[i].says != (code == OK) || (cases[i].says && !strstr(e.message, cases[i].says)))
            fail_msg("%s: '%s'", cases[i].rule, code ? e.message : "holds");
        assert_int_equal(step, cases[i].says ? 0 : 9);
        arena_free(&a);
    }
}

/* Steps that a person would take, where the e-graph knows many detours. */
static void proofs_are_short(void **state)
{
    static const char text[] = "group ring\n"
                               "comm: ?a + ?b -> ?b + ?a\n"
                               "assoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c\n"
                               "zero: ?a + 0 -> ?a\n"
                               "zero-back: ?a -> ?a + 0\n"
                               "one: ?a * 1 -> ?a\n"
                               "square: ?a^2 <-> ?a * ?a\n";
    static const struct {
        const char *from, *to;
        size_t most;
    } cases[] = {{"a + (b + c)", "(a + b) + c", 1},
                 {"(a + b) + c", "c + (b + a)", 2},
                 {"((x + 0) * 1)^2 + 0", "x * x", 4},
                 {"x * (1 + 2) + 0", "x * 3", 2}};
    struct arena a = {0};
    struct err e = {0};
    struct rules rules = rules_of(&a, text);
    struct ruleset *set = ruleset_new(&rules);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct egraph *g = egraph_new(rules.lang);
        egraph_keep_proofs(g);
        struct expr x = term(&a, rules.lang, cases[i].from), y = term(&a, rules.lang, cases[i].to);
        egraph_add_expr(g, &x);
        egraph_add_expr(g, &y);
        struct saturate_options o = {.iterations = 5, .max_nodes = 3000, .explain = true};
        struct saturate_result r;
        struct explanation p;
        assert_int_equal(egraph_saturate(&r, g, set, &o, &a, &e), OK);
        if (egraph_explain(&p, &a, g, set, &x, &y, &e) || explanation_check(&p, &x, &y, &rules, &e))
            fail_msg("%s", e.message);
        if (p.n > cases[i].most)
            fail_msg("%s = %s in %zu steps instead of %zu", cases[i].from, cases[i].to, p.n,
                     cases[i].most);
        egraph_free(g);
    }
    ruleset_free(set);
    arena_free(&a);
}

/* Between random terms that random rewriting made equal. */
static void random_proofs_replay(void **state)
{
    static const char *const names[] = {"a", "b", "c", "2", "3"};
    struct rng rng = rng_new(test_seed(), 7);
    for (int round = 0; round < 60; round++) {
        struct arena a = {0};
        struct err e = {0};
        struct rules rules = rules_of(&a, algebra);
        struct ruleset *set = ruleset_new(&rules);
        struct egraph *g = egraph_new(rules.lang);
        egraph_keep_proofs(g);
        struct expr x[2];
        for (int k = 0; k < 2; k++) {
            char text[200];
            snprintf(text, sizeof text, "(%s + %s) * (%s - (%s * %s))", names[rng_below(&rng, 5)],
                     names[rng_below(&rng, 5)], names[rng_below(&rng, 5)],
                     names[rng_below(&rng, 5)], names[rng_below(&rng, 5)]);
            x[k] = term(&a, rules.lang, text);
            egraph_add_expr(g, &x[k]);
        }
        struct saturate_options o = {.iterations = 4, .max_nodes = 3000, .explain = true};
        struct saturate_result r;
        assert_int_equal(egraph_saturate(&r, g, set, &o, &a, &e), OK);
        check_graph(g);
        /* every subterm's other forms: rewritten by hand at the root */
        struct expr swapped = expr_apply(
            &a, rules.lang, X_MUL,
            (struct expr[]){expr_sub(&x[0], 1 + x[0].nodes[1].size), expr_sub(&x[0], 1)}, 2);
        struct explanation p;
        enum err_code code = egraph_explain(&p, &a, g, set, &x[0], &swapped, &e);
        assert_int_equal(code, OK);
        if (explanation_check(&p, &x[0], &swapped, &rules, &e))
            fail_msg("round %d: %s", round, e.message);
        if (egraph_lookup(g, &x[0]) == egraph_lookup(g, &x[1])) {
            assert_int_equal(egraph_explain(&p, &a, g, set, &x[0], &x[1], &e), OK);
            assert_int_equal(explanation_check(&p, &x[0], &x[1], &rules, &e), OK);
        }
        ruleset_free(set);
        egraph_free(g);
        arena_free(&a);
    }
}

/* Keeping proofs changes nothing but memory. */
static void proofs_do_not_change_the_graph(void **state)
{
    struct arena a = {0};
    struct rules rules = rules_of(&a, algebra);
    struct expr x = term(&a, rules.lang, "(a + b) * (c + sin(2 * x)) - 3 * 4");
    uint32_t nodes[2], classes[2];
    for (int k = 0; k < 2; k++) {
        struct egraph *g = egraph_new(rules.lang);
        if (k)
            egraph_keep_proofs(g);
        egraph_add_expr(g, &x);
        struct saturate_options o = {
            .iterations = 4, .max_nodes = 4000, .match_limit = 300, .ban_length = 2, .explain = k};
        saturate(g, &rules, o, &a);
        nodes[k] = egraph_count_nodes(g);
        classes[k] = egraph_count_classes(g);
        egraph_free(g);
    }
    assert_int_equal(nodes[0], nodes[1]);
    assert_int_equal(classes[0], classes[1]);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_doubt_false_steps),
        cmocka_unit_test(proofs_replay),
        cmocka_unit_test(the_checker_is_strict),
        cmocka_unit_test(proofs_are_short),
        cmocka_unit_test(random_proofs_replay),
        cmocka_unit_test(proofs_do_not_change_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
