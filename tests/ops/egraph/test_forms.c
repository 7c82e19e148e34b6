/* Normal forms that join classes during saturation: what they join is replayed, and nothing else is
 * joined. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/explain/explanation.h"

/* A run in which normal forms may compare so many pairs; whether it proves x = y, by a form. */
static bool proves_by_form(const char *rule, const char *domain, const char *from, const char *to,
                           uint32_t forms)
{
    struct arena a = {0};
    struct err e = {0};
    struct rules rules = rules_of(&a, arena_printf(&a, "group g\n%s\n", rule));
    struct ruleset *set = ruleset_new(&rules);
    struct egraph *g = egraph_new(rules.lang);
    egraph_keep_proofs(g);
    assert_int_equal(egraph_declare(g, &(struct ball_domain){"x", domain}, &e), OK);
    struct expr x = infix_term(&a, rules.lang, from), y = infix_term(&a, rules.lang, to);
    struct saturate_options o = {
        .iterations = 3, .max_nodes = 2000, .explain = true, .forms = forms, .has_goal = true};
    o.goal[0] = egraph_add_expr(g, &x);
    o.goal[1] = egraph_add_expr(g, &y);
    struct saturate_result r;
    assert_int_equal(egraph_saturate(&r, g, set, &o, &a, &e), OK);
    check_graph(g);
    bool proved = egraph_find(g, o.goal[0]) == egraph_find(g, o.goal[1]);
    if (proved) {
        struct explanation p;
        size_t form = 0;
        assert_int_equal(egraph_explain(&p, &a, g, set, &x, &y, &e), OK);
        assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), OK);
        assert_non_null(p.checked);
        assert_false(p.shortest);
        while (strchr(p.steps[form].rule, '/'))
            form++;
        p.steps[form].rule = "g/r";
        assert_int_equal(explanation_check(&p, &x, &y, &rules, &e), ERR_FAILED);
        p.steps[form].rule = "expansion";
        p.steps[form].term = infix_term(&a, rules.lang, "x + 1/10^30");
        p.n = form + 1;
        p.steps[form].position = 0;
        size_t step;
        assert_true(explanation_check(&p, &x, &p.steps[form].term, &rules, &e) ||
                    explanation_check_values(&step, &p, &x, NULL, 0, &e));
    }
    ruleset_free(set);
    egraph_free(g);
    arena_free(&a);
    return proved;
}

TEST(normal_forms_join_classes)
{
    static const char rule[] = "r: sin(2*?a) -> 2*sin(?a)*cos(?a)";
    static const char twice[] = "ln((y + sin(2*x))^2)",
                      expanded[] = /* one is inside the other */
                      "ln(y^2 + 4*y*sin(x)*cos(x) + 4*sin(x)^2*cos(x)^2)";
    assert_false(proves_by_form(rule, "positive", twice, expanded, 0));
    assert_true(proves_by_form(rule, "positive", twice, expanded, 100));
    assert_true(proves_by_form(rule, "positive", "abs(x + 1)*y", "y + x*y", 100));
    assert_true(proves_by_form(rule, "real", "sqrt(x^2)*y", "abs(x)*y", 100));
    assert_false(proves_by_form(rule, "real", "sqrt(x^2)*y", "x*y", 100));
    assert_false(proves_by_form(rule, "real", "sin(x)", "sin(x) + 1/10^30", 100));
}
