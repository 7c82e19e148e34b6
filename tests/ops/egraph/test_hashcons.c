/* How the table of nodes grows: nothing is lost in it, and it always has room. */
#include "tests/ops/egraph/help.h"

/* Nodes whose arguments merge one after another: repairs follow repairs, and nothing is added. */
TEST_IN_ARENA(repairs_leave_room)
{
    enum { N = 64 };
    struct rng r = rng_new(test_seed(1), 15);
    struct rules rules = rules_of(a, "operator f/2\ngroup g\nx: f(?a, ?a) -> ?a\n");
    struct egraph *g = egraph_new(rules.lang);
    eclass_id leaf[N];
    for (int i = 0; i < N; i++) {
        struct expr x = infix_term(a, rules.lang, arena_printf(a, "v%d", i));
        leaf[i] = egraph_add_expr(g, &x);
    }
    for (int i = 0; i < 600; i++) {
        int v = (int)rng_below(&r, N); /* never congruent */
        struct expr x = infix_term(a, rules.lang, arena_printf(a, "f(u%d, v%d)", i, v));
        egraph_add_expr(g, &x);
    }
    for (int step = 1; step < N; step *= 2)
        for (int i = 0; i + step < N; i += 2 * step) {
            egraph_union(g, leaf[i], leaf[i + step]);
            egraph_rebuild(g);
            assert_true((g->cons.n + g->cons.n_gaps) * 3ull <= g->cons.size * 2ull);
        }
    check_graph(g);
    assert_int_equal(egraph_count_classes(g), 1 + 2 * 600);
    egraph_free(g);
}

/* Most nodes die, as those of variables that become one; what is left is few for a table that has
 * to be larger for the ids alone, and is made anew while a node is on its way into it. */
TEST(a_table_of_few_finds_all)
{
    static const char *const functions[] = {"sin", "cos", "tan", "ln", "sinh", "cosh", "tanh"};
    enum { FUNCTIONS = sizeof functions / sizeof *functions, VARIABLES = 1500 };
    for (int shift = 0; shift < FUNCTIONS; shift++) { /* at any of them the arrays may be full */
        struct arena a = {0};
        struct egraph *g = egraph_new(&lang_calculus);
        eclass_id first = 0;
        egraph_keep_proofs(g); /* the dead stay where they are */
        for (int i = 0; i < VARIABLES; i++) {
            struct expr x = infix_term(&a, &lang_calculus, arena_printf(&a, "v%d", i));
            eclass_id v = egraph_add_expr(g, &x);
            for (int k = 0; k < (i ? FUNCTIONS : shift); k++) {
                x = infix_term(&a, &lang_calculus, arena_printf(&a, "%s(v%d)", functions[k], i));
                eclass_id n = egraph_add_expr(g, &x);
                assert_int_equal(egraph_add_expr(g, &x), n);
            }
            first = i ? first : v;
            egraph_union(g, first, v);
            egraph_rebuild(g);
        }
        check_graph(g);
        assert_int_equal(egraph_count_classes(g), 1 + FUNCTIONS);
        assert_true(g->cap >= 4 * g->cons.size);
        egraph_free(g);
        arena_free(&a);
    }
}
