/* Random rule sets and terms, without conditions and with: the same classes as a naive e-graph; and
 * random unions, with every invariant checked after each step. Operators are uninterpreted
 * (constants are a(x), b(x), ...), so of facts only the variables play a part. */
#include "tests/ops/egraph/help.h"
#include "tests/ref/ref_egraph.h"

static const char header[] = "operator f/1\noperator g/2\noperator h/2\noperator k/2\n"
                             "operator a/1\noperator b/1\noperator c/1\noperator d2/1\n"
                             "group random\n";

static void write_term(struct buf *out, struct rng *r, int depth, const char *const *leaves,
                       unsigned n_leaves)
{
    static const struct {
        const char *name;
        int arity;
    } ops[] = {{"f", 1}, {"g", 2}, {"k", 2}, {"h", 2}};
    if (depth == 0 || rng_below(r, 4) == 0) {
        buf_puts(out, leaves[rng_below(r, n_leaves)]);
        return;
    }
    uint64_t op = rng_below(r, 4);
    buf_printf(out, "%s(", ops[op].name);
    for (int i = 0; i < ops[op].arity; i++) {
        if (i)
            buf_puts(out, ", ");
        write_term(out, r, depth - 1, leaves, n_leaves);
    }
    buf_putc(out, ')');
}

/* Right sides no deeper than left ones, mostly, or few sets would ever saturate. */
static void write_rules(struct buf *out, struct rng *r, bool conditions)
{
    static const char *const unary[] = {"symbol(?a)", "symbol(f(?a))", "free_of(f(x), ?a)"};
    static const char *const binary[] = {
        "symbol(?b)",         "free_of(?a, ?b)",       "free_of(f(?a), ?b)",
        "free_of(?b, f(?a))", "free_of(k(?a, x), ?b)", "symbol(g(?b, ?a))"};
    static const char *const lhs[] = {"f(?a)",
                                      "g(?a, ?b)",
                                      "k(?a, ?b)",
                                      "g(f(?a), ?b)",
                                      "k(g(?a, ?b), ?c)",
                                      "f(f(?a))",
                                      "g(?a, g(?b, ?c))",
                                      "g(?a, ?a)",
                                      "h(?a, g(f(?b), ?a))",
                                      "h(?a, g(?b, ?c))",
                                      "k(f(?a), f(?b))",
                                      "g(k(?a, ?b), k(?a, ?c))",
                                      "k(f(?a), g(f(?a), c(x)))",
                                      "g(f(?a), f(g(?a, f(?a))))",
                                      "g(f(?a), g(?b, f(?a)))",
                                      "k(g(?a, ?b), h(f(?b), g(?a, f(f(?a)))))",
                                      "k(f(?a), h(?b, g(f(?a), g(?a, ?b))))",
                                      "k(c(x), ?a)",
                                      "c(x)",
                                      "f(g(?a, c(x)))"};
    static const char *const rhs1[] = {"?a", "f(?a)", "c(x)", "g(?a, ?a)", "k(c(x), ?a)"};
    static const char *const rhs2[] = {"g(?b, ?a)", "k(?a, ?b)", "f(?b)", "?a", "k(f(?b), ?a)"};
    static const char *const rhs3[] = {"g(g(?a, ?b), ?c)", "h(?c, g(?b, ?a))", "k(?a, g(?b, ?c))",
                                       "k(?c, ?a)", "h(?a, g(?b, ?b))"};
    buf_puts(out, header);
    unsigned n = 2 + (unsigned)rng_below(r, 4);
    for (unsigned i = 0; i < n; i++) {
        const char *l = lhs[rng_below(r, sizeof lhs / sizeof *lhs)];
        bool b = strstr(l, "?b"), c = strstr(l, "?c"), a = strstr(l, "?a");
        const char *right = !a  ? (rng_below(r, 2) ? "d2(x)" : "f(d2(x))")
                            : c ? rhs3[rng_below(r, 5)]
                            : b ? rhs2[rng_below(r, 5)]
                                : rhs1[rng_below(r, 5)];
        if (strcmp(l, right) == 0)
            continue;
        buf_printf(out, "r%u: %s -> %s", i, l, right);
        if (conditions && a && rng_below(r, 3))
            buf_printf(out, " if %s", b ? binary[rng_below(r, 6)] : unary[rng_below(r, 3)]);
        buf_puts(out, "\n");
    }
}

static void check_same_classes(struct egraph *g, struct ref_egraph *ref, const struct expr *x,
                               const uint32_t *ref_class, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_not_equal(egraph_lookup(g, &x[i]), UINT32_MAX);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(egraph_lookup(g, &x[i]) == egraph_lookup(g, &x[k]),
                             ref->class_of[ref_class[i]] == ref->class_of[ref_class[k]]);
    }
    uint32_t nodes, classes;
    ref_count(&nodes, &classes, ref);
    assert_int_equal(egraph_count_nodes(g), nodes);
    assert_int_equal(egraph_count_classes(g), classes);
}

static void compare_with_oracle(bool conditions)
{
    static const char *const leaves[] = {"a(x)", "b(x)", "c(x)", "d2(x)", "x", "y"};
    struct rng r = rng_new(test_seed(1), 1);
    int compared = 0;
    for (int round = 0; round < 400; round++) {
        struct arena a = {0};
        struct buf text = {0};
        write_rules(&text, &r, conditions);
        const char *rules_text = arena_strdup(&a, text.data);
        struct rules rules = rules_of(&a, rules_text);
        struct egraph *g = egraph_new(rules.lang);
        g->compact_at.dead = g->compact_at.percent = 0; /* whenever a node died */
        g->size_order_at = round % 4 < 2 ? 0 : UINT32_MAX;
        struct ref_egraph ref = {0};
        struct expr x[4];
        uint32_t ref_class[4];
        for (int i = 0; i < 4; i++) {
            buf_clear(&text);
            write_term(&text, &r, 3, leaves, conditions ? 6 : 4);
            x[i] = infix_term(&a, rules.lang, arena_strdup(&a, text.data));
            egraph_add_expr(g, &x[i]);
            ref_class[i] = ref_add(&ref, &x[i]);
        }
        if (ref_saturate(&ref, &rules, 30, 250)) {
            struct saturate_options o = {.iterations = 200, .max_nodes = 20000};
            if (round % 2) { /* rests must not change where it ends */
                o.match_limit = 3;
                o.ban_length = 2;
            }
            struct saturate_result result;
            struct ruleset *set = ruleset_new(&rules);
            struct err e = {0};
            bool failed = egraph_saturate(&result, g, set, &o, &a, &e) != OK;
            ruleset_free(set);
            /* x and y are not equal, whatever a rule says */
            if (failed && !(conditions && egraph_contradicts(g)))
                fail_msg("%s", e.message);
            if (failed)
                goto next;
            check_graph(g);
            bool saturated = result.stop == EQLOOM__STOP_REASON__SATURATED;
            /* a rule that rests while another grows may never catch up, but only then */
            if (!saturated && round % 2 == 0)
                fail_msg("round %d did not saturate: %s", round, rules_text);
            if (saturated)
                check_same_classes(g, &ref, x, ref_class, 4);
            compared += saturated;
        }
    next:
        ref_free(&ref);
        egraph_free(g);
        buf_free(&text);
        arena_free(&a);
    }
    print_message("%d of 400 rule sets saturated and were compared\n", compared);
    assert_true(compared > 100);
}

TEST(saturates_to_the_oracles_classes)
{
    compare_with_oracle(false);
}

TEST(conditions_are_the_oracles)
{
    compare_with_oracle(true);
}

TEST(congruence_holds_after_every_union)
{
    static const char *const leaves[] = {"a(x)", "b(x)", "c(x)"};
    struct rng r = rng_new(test_seed(1), 2);
    for (int round = 0; round < 60; round++) {
        struct arena a = {0};
        struct buf text = {0};
        struct rules rules = rules_of(&a, arena_printf(&a, "%sx: f(?a) -> ?a\n", header));
        struct egraph *g = egraph_new(rules.lang);
        g->compact_at.dead = g->compact_at.percent = 0; /* whenever a node died */
        if (round % 3 == 0)
            egraph_keep_proofs(g);
        struct expr x[12];
        eclass_id class[12];
        for (int i = 0; i < 12; i++) {
            buf_clear(&text);
            write_term(&text, &r, 3, leaves, 3);
            x[i] = infix_term(&a, rules.lang, arena_strdup(&a, text.data));
            class[i] = egraph_add_expr(g, &x[i]);
            check_graph(g);
        }
        for (int step = 0; step < 12; step++) {
            int i = (int)rng_below(&r, 12), k = (int)rng_below(&r, 12);
            bool apart = egraph_find(g, class[i]) != egraph_find(g, class[k]);
            assert_int_equal(egraph_union(g, class[i], class[k]), apart);
            if (rng_below(&r, 3) == 0)
                continue; /* several unions before one rebuild */
            egraph_rebuild(g);
            check_graph(g);
            assert_int_equal(egraph_find(g, class[i]), egraph_find(g, class[k]));
            for (int t = 0; t < 12; t++)
                assert_int_equal(egraph_lookup(g, &x[t]), egraph_find(g, class[t]));
        }
        egraph_free(g);
        buf_free(&text);
        arena_free(&a);
    }
}
