/* Profiles of saturation: counting changes no result, and what is counted is what happened. */
#include "tests/ops/egraph/help.h"

#include "ops/rules/rule.h"

struct profiled {
    struct fixture f;
    struct rule_profile *p; /* by rule */
};

/* Without rules: the shipped ones. */
static struct profiled run(const char *rules, const char *text, struct saturate_options o,
                           bool profile)
{
    struct arena a = {0};
    struct rules parsed = rules ? rules_of(&a, rules) : library_rules_on(&a, &lang_calculus);
    struct profiled out = {fixture_of_rules(a, parsed, text, false), NULL};
    out.p = arena_array(&out.f.a, struct rule_profile, parsed.n);
    o.profile = profile ? out.p : NULL;
    fixture_saturate(&out.f, o);
    return out;
}

static const struct rule_profile *of(const struct profiled *p, const char *name)
{
    for (size_t i = 0; i < p->f.rules->n; i++)
        if (strcmp(p->f.rules->rules[i].name, name) == 0)
            return &p->p[i];
    fail_msg("no rule %s", name);
    return NULL;
}

TEST(one_iteration_is_counted_by_hand)
{
    struct saturate_options o = {.iterations = 1, .max_nodes = 1000};
    struct profiled p = run("group g\n"
                            "comm: ?a + ?b -> ?b + ?a\n"
                            "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
                            "never: sin(?a) -> cos(?a)\n"
                            "zero: 0 -> 1 - 1\n"
                            "quotient: ?a / ?a -> 1 if nonzero(?a)\n",
                            "(x + (y + z)) + (y + 0) / (y + 0)", o, true);
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
    fixture_end(&p.f);
}

TEST(counting_changes_no_result)
{
    static const char *const terms[] = {"sin(2*x+5)^(-8)", "d(x, cot(5*x))", "(2*x+3)^4"};
    struct saturate_options o = {
        .iterations = 8, .max_nodes = 3000, .match_limit = 20, .ban_length = 2};
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        struct profiled plain = run(NULL, terms[t], o, false), p = run(NULL, terms[t], o, true);
        const struct saturate_result *r = &p.f.r, *s = &plain.f.r;
        assert_int_equal(r->stop, s->stop);
        assert_int_equal(r->iterations, s->iterations);
        assert_int_equal(egraph_count_nodes(p.f.g), egraph_count_nodes(plain.f.g));
        assert_int_equal(egraph_count_classes(p.f.g), egraph_count_classes(plain.f.g));
        size_t n = p.f.rules->n;
        assert_memory_equal(r->matched, s->matched, n * sizeof *r->matched);
        assert_memory_equal(r->applied, s->applied, n * sizeof *r->applied);
        uint32_t banned = 0;
        for (size_t i = 0; i < n; i++) {
            const struct rule_profile *x = &p.p[i];
            banned += x->banned;
            assert_true(x->applied >= r->applied[i] && x->applied <= r->matched[i]);
            assert_true(!r->matched[i] || x->searched || p.f.rules->rules[i].lhs.n == 1);
            assert_true(!x->searched || x->steps > 0);
        }
        assert_true(banned > 0); /* in the middle of an iteration */
        fixture_end(&p.f);
        fixture_end(&plain.f);
    }
}

/* What is searched for deep in few terms costs less than what matches often. */
TEST(steps_are_divided)
{
    struct saturate_options o = {.iterations = 3, .max_nodes = 1000};
    struct profiled p = run("group g\n"
                            "comm: ?a + ?b -> ?b + ?a\n"
                            "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n"
                            "deep: ?a + sin(cos(?b)) -> sin(cos(?b)) + ?a\n",
                            "(x + (y + z)) + (x + y)", o, true);
    assert_true(of(&p, "assoc")->steps > of(&p, "deep")->steps);
    fixture_end(&p.f);
}

TEST(a_banned_rule_is_not_searched)
{
    struct saturate_options o = {
        .iterations = 1, .max_nodes = 1000, .match_limit = 1, .ban_length = 100};
    struct profiled p = run("group g\n"
                            "comm: ?a + ?b -> ?b + ?a\n"
                            "other: ?a + 0 -> ?a\n",
                            "(x + y) + (y + z)", o, true);
    /* three sums: it is banned at the second */
    assert_int_equal(of(&p, "comm")->banned, 1);
    assert_int_equal(of(&p, "comm")->searched, 2);
    assert_int_equal(of(&p, "comm")->applied, 1);
    assert_int_equal(of(&p, "other")->banned, 0);
    assert_int_equal(of(&p, "other")->searched, 3);
    fixture_end(&p.f);
}
