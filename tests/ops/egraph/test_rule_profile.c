/* Profiles of saturation: counting changes no result, and what is counted is what happened. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/graph/egraph_core.h"
#include "ops/rules/rule.h"

struct profiled {
    struct arena a;
    struct rules rules;
    struct saturate_result r;
    struct rule_profile *p; /* by rule */
    uint32_t nodes, classes;
};

static void run(struct profiled *out, const char *text, struct saturate_options o, bool profile)
{
    struct egraph *g = egraph_new(out->rules.lang);
    struct expr x = infix_term(&out->a, out->rules.lang, text);
    egraph_add_expr(g, &x);
    out->p = arena_array(&out->a, struct rule_profile, out->rules.n);
    o.profile = profile ? out->p : NULL;
    out->r = saturate(g, &out->rules, o, &out->a);
    check_graph(g);
    out->nodes = egraph_count_nodes(g);
    out->classes = egraph_count_classes(g);
    egraph_free(g);
}

static void run_rules(struct profiled *out, const char *rules, const char *text,
                      struct saturate_options o)
{
    *out = (struct profiled){0};
    out->rules = rules_of(&out->a, rules);
    run(out, text, o, true);
}

static size_t rule_index(const struct profiled *p, const char *name)
{
    for (size_t i = 0; i < p->rules.n; i++)
        if (strcmp(p->rules.rules[i].name, name) == 0)
            return i;
    fail_msg("no rule %s", name);
    return 0;
}

static const struct rule_profile *of(const struct profiled *p, const char *name)
{
    return &p->p[rule_index(p, name)];
}

TEST(one_iteration_is_counted_by_hand)
{
    struct saturate_options o = {.iterations = 1, .max_nodes = 1000};
    struct profiled p;
    run_rules(&p,
              "group g\n"
              "comm: ?a + ?b -> ?b + ?a\n"
              "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
              "never: sin(?a) -> cos(?a)\n"
              "zero: 0 -> 1 - 1\n"
              "quotient: ?a / ?a -> 1 if nonzero(?a)\n",
              "(x + (y + z)) + (y + 0) / (y + 0)", o);
    /* sums: the whole, x + (y + z), y + z, y + 0 */
    assert_int_equal(of(&p, "comm")->searched, 4);
    assert_int_equal(of(&p, "comm")->applied, 4);
    assert_int_equal(of(&p, "comm")->nodes, 4);
    assert_int_equal(of(&p, "assoc")->searched, 4);
    assert_int_equal(of(&p, "assoc")->applied, 1);
    assert_int_equal(of(&p, "assoc")->nodes, 2);
    assert_int_equal(of(&p, "never")->searched, 0);
    assert_int_equal(of(&p, "never")->applied, 0);
    assert_true(of(&p, "never")->steps == 0);
    assert_int_equal(of(&p, "quotient")->searched, 1);
    arena_free(&p.a);
}

TEST(counting_changes_no_result)
{
    static const char *const terms[] = {"sin(2*x+5)^(-8)", "d(x, cot(5*x))", "(2*x+3)^4"};
    struct saturate_options o = {
        .iterations = 8, .max_nodes = 3000, .match_limit = 20, .ban_length = 2};
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        struct profiled p = {0};
        p.rules = library_rules_on(&p.a, &lang_calculus);
        run(&p, terms[t], o, false);
        struct profiled plain = p;
        run(&p, terms[t], o, true);
        assert_int_equal(p.r.stop, plain.r.stop);
        assert_int_equal(p.r.iterations, plain.r.iterations);
        assert_int_equal(p.nodes, plain.nodes);
        assert_int_equal(p.classes, plain.classes);
        size_t n = p.rules.n;
        assert_memory_equal(p.r.matched, plain.r.matched, n * sizeof *p.r.matched);
        assert_memory_equal(p.r.applied, plain.r.applied, n * sizeof *p.r.applied);
        uint32_t banned = 0;
        for (size_t i = 0; i < n; i++) {
            const struct rule_profile *r = &p.p[i];
            banned += r->banned;
            assert_true(r->applied >= p.r.applied[i] && r->applied <= p.r.matched[i]);
            assert_true(!p.r.matched[i] || r->searched || p.rules.rules[i].lhs.n == 1);
            assert_true(!r->searched || r->steps > 0);
        }
        assert_true(banned > 0); /* in the middle of an iteration */
        arena_free(&p.a);
    }
}

/* What is searched for deep in few terms costs less than what matches often. */
TEST(steps_are_divided)
{
    struct saturate_options o = {.iterations = 3, .max_nodes = 1000};
    struct profiled p;
    run_rules(&p,
              "group g\n"
              "comm: ?a + ?b -> ?b + ?a\n"
              "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
              "deep: ?a + sin(cos(?b)) -> sin(cos(?b)) + ?a\n",
              "(x + (y + z)) + (x + y)", o);
    assert_true(of(&p, "assoc")->steps > of(&p, "deep")->steps);
    arena_free(&p.a);
}

TEST(a_banned_rule_is_not_searched)
{
    struct saturate_options o = {
        .iterations = 1, .max_nodes = 1000, .match_limit = 1, .ban_length = 100};
    struct profiled p;
    run_rules(&p,
              "group g\n"
              "comm: ?a + ?b -> ?b + ?a\n"
              "other: ?a + 0 -> ?a\n",
              "(x + y) + (y + z)", o);
    /* three sums: it is banned at the second */
    assert_int_equal(of(&p, "comm")->banned, 1);
    assert_int_equal(of(&p, "comm")->searched, 2);
    assert_int_equal(of(&p, "comm")->applied, 1);
    assert_int_equal(of(&p, "other")->banned, 0);
    assert_int_equal(of(&p, "other")->searched, 3);
    arena_free(&p.a);
}
