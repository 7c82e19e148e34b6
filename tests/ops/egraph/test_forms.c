/* Normal forms that join classes during saturation: what they join is replayed, and nothing else is
 * joined. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/explain/explanation.h"

/* A run in which normal forms may compare so many pairs; whether it proves x = y, by a form. */
static bool proves_by_form(const char *rules, const char *domain, const char *from, const char *to,
                           uint32_t forms)
{
    struct ball_domain x_domain = {"x", domain};
    struct fixture f = fixture_of(rules, "1", true);
    assert_int_equal(egraph_declare(f.g, &x_domain, &f.e), OK);
    struct expr x = infix_term(&f.a, f.rules->lang, from), y = infix_term(&f.a, f.rules->lang, to);
    struct saturate_options o = {
        .iterations = 3, .max_nodes = 2000, .explain = true, .forms = forms, .has_goal = true};
    o.goal[0] = egraph_add_expr(f.g, &x);
    o.goal[1] = egraph_add_expr(f.g, &y);
    fixture_saturate(&f, o);
    bool proved = egraph_find(f.g, o.goal[0]) == egraph_find(f.g, o.goal[1]);
    if (proved) {
        struct explanation p;
        size_t form = 0;
        assert_int_equal(egraph_explain(&p, &f.a, f.g, f.set, &x, &y, &f.e), OK);
        assert_int_equal(explanation_check(&p, &x, &y, f.rules, &f.e), OK);
        assert_non_null(p.checked);
        assert_false(p.shortest);
        while (strchr(p.steps[form].rule, '/'))
            form++;
        p.steps[form].rule = "g/r";
        assert_int_equal(explanation_check(&p, &x, &y, f.rules, &f.e), ERR_FAILED);
        p.steps[form].rule = "expansion";
        p.steps[form].term = infix_term(&f.a, f.rules->lang, "x + 1/10^30");
        p.n = form + 1;
        p.steps[form].position = 0;
        size_t step;
        assert_true(explanation_check(&p, &x, &p.steps[form].term, f.rules, &f.e) ||
                    explanation_check_values(&step, &p, &x, NULL, 0, &f.e));
    }
    fixture_end(&f);
    return proved;
}

TEST(normal_forms_join_classes)
{
    static const char rule[] = "group g\nr: sin(2*?a) -> 2*sin(?a)*cos(?a)\n";
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
