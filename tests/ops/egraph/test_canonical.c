/* The canonical form: independent of the order of rules, insertions and ids; and readable. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/record/least_terms.h"
#include "schemas/canonical.h"
#include "schemas/egraph/egraph_arrays.h"

static const char *const lines[] = {
    "comm: ?a + ?b -> ?b + ?a\n",
    "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n",
    "assoc2: (?a + ?b) + ?c -> ?a + (?b + ?c)\n",
    "pyth: sin(?a)^2 + cos(?a)^2 -> 1\n",
    "ln-one: ln(1) -> 0\n",
    "sqrt: sqrt(?a^2) -> ?a if nonnegative(?a)\n",
};
enum { LINES = sizeof lines / sizeof *lines };

static struct span packed(struct arena *a, const uint32_t *order, const char *text, bool noise)
{
    struct err e = {0};
    struct buf rules_text = {0};
    buf_puts(&rules_text, "group g\n");
    for (int i = 0; i < LINES; i++)
        buf_puts(&rules_text, lines[order[i]]);
    struct rules rules = rules_of(a, rules_text.data);
    buf_free(&rules_text);
    struct egraph *g = egraph_new(rules.lang);
    if (noise) { /* other terms first: other ids */
        struct expr other = infix_term(a, rules.lang, "tan(z + 8) * (y + x)");
        egraph_add_expr(g, &other);
    }
    struct expr x = infix_term(a, rules.lang, text);
    eclass_id root = egraph_add_expr(g, &x);
    struct saturate_result r = saturate(g, &rules, generous, a);
    assert_int_equal(r.stop, EQLOOM__STOP_REASON__SATURATED);
    Eqloom__EGraph m;
    egraph_to_message(&m, a, g, root);
    struct span out;
    if (canonical_pack(&out, a, &m.base, &e))
        fail_msg("%s", e.message);
    egraph_free(g);
    return out;
}

TEST(orders_do_not_matter)
{
    static const char *const terms[] = {
        "(a + b) + (c + x)",
        "sin(x)^2 + (y + cos(x)^2)",
        "ln(sin(x + y)^2 + cos(y + x)^2) + sqrt((x + 3/2)^2)",
    };
    struct rng r = rng_new(test_seed(1), 3);
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        struct arena a = {0};
        uint32_t order[LINES];
        for (uint32_t i = 0; i < LINES; i++)
            order[i] = i;
        struct span first = packed(&a, order, terms[t], false);
        for (int k = 0; k < 8; k++) {
            rng_shuffle_u32(&r, order, LINES);
            struct span other = packed(&a, order, terms[t], k % 2);
            assert_true(span_equal(first, other));
        }
        arena_free(&a);
    }
}

TEST_IN_ARENA(what_does_not_fit_together_is_refused)
{
    struct err e = {0};
    struct rules rules = rules_of(a, "group g\ncomm: ?a + ?b -> ?b + ?a\none: ?a -> ?a * 1\n");
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(a, rules.lang, "sin(x + 3/2) + y");
    eclass_id root = egraph_add_expr(g, &x);
    struct saturate_options o = {.iterations = 5, .max_nodes = 1000};
    saturate(g, &rules, o, a);
    Eqloom__EGraph m;
    struct egraph_arrays y;
    egraph_to_message(&m, a, g, root);
    assert_int_equal(egraph_arrays_read(&y, a, &m, &e), OK);
    assert_int_equal(y.n_nodes, egraph_count_nodes(g));
    Eqloom__EGraph bad = m;
    bad.root = (uint32_t)m.n_class_sizes;
    assert_int_equal(egraph_arrays_read(&y, a, &bad, &e), ERR_CORRUPT);
    bad = m;
    bad.n_first_children--;
    assert_int_equal(egraph_arrays_read(&y, a, &bad, &e), ERR_CORRUPT);
    bad = m;
    bad.n_more_children--;
    assert_int_equal(egraph_arrays_read(&y, a, &bad, &e), ERR_CORRUPT);
    bad = m;
    bad.more_children =
        arena_memdup(a, m.more_children, m.n_more_children * sizeof *m.more_children);
    bad.more_children[0] = (uint32_t)m.n_class_sizes;
    assert_int_equal(egraph_arrays_read(&y, a, &bad, &e), ERR_CORRUPT);
    egraph_free(g);
}

TEST_IN_ARENA(classes_are_in_the_order_of_their_least_terms)
{
    struct rules rules = rules_of(a, "group g\ncomm: ?a + ?b -> ?b + ?a\n");
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(a, rules.lang, "cos(y) + x * 2");
    eclass_id root = egraph_add_expr(g, &x);
    saturate(g, &rules, generous, a);
    Eqloom__EGraph m;
    egraph_to_message(&m, a, g, root);
    /* 2, x, y, cos y, * x 2, and the sum both ways */
    assert_int_equal(m.n_class_sizes, 6);
    assert_int_equal(m.n_node_ops, 7);
    assert_int_equal(m.root, 5);
    assert_int_equal(m.n_operators, 3);
    assert_string_equal(m.leaves[m.node_ops[0] - 3], "2");
    assert_string_equal(m.leaves[m.node_ops[1] - 3], "x");
    assert_string_equal(m.leaves[m.node_ops[2] - 3], "y");
    assert_string_equal(m.operators[m.node_ops[3]], "cos");
    assert_string_equal(m.operators[m.node_ops[4]], "*");
    egraph_free(g);
}

/* By the tokens from the left, operators by number, leaves by text. */
TEST_IN_ARENA(order_of_terms_of_one_size)
{
    static const char *const pairs[][2] = {{"v8 + v2", "v9 + v1"},
                                           {"v2 + v8", "v2 + v9"},
                                           {"v3 + v3", "v1 - v1"},
                                           {"sin(v9) + v1", "sin(v8) - v1"}};
    struct egraph *g = egraph_new(&lang_calculus);
    struct least_terms t;
    eclass_id class[4][2];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            struct expr x = infix_term(a, g->lang, pairs[i][k]);
            class[i][k] = egraph_add_expr(g, &x);
        }
    egraph_rebuild(g);
    least_terms_find(&t, a, g);
    for (int i = 0; i < 4; i++) {
        uint32_t at[2] = {0, 0};
        for (int k = 0; k < 2; k++)
            while (t.order[at[k]] != egraph_find(g, class[i][k]))
                at[k]++;
        if (at[0] > at[1])
            fail_msg("%s is not before %s", pairs[i][0], pairs[i][1]);
    }
    egraph_free(g);
}
